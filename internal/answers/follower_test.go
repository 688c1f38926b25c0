package answers

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubetyped/informer/index"
	"github.com/kubetyped/informer/internal/ownwrites"
	"github.com/kubetyped/informer/internal/test/sinktest"
	"github.com/kubetyped/informer/typed/source"
)

// TestWritersWaitFromTheFirstList: from when the sink has the first list, which is before the
// informer is synced, writers wait for reads; not before, since other lists may be missing.
func TestWritersWaitFromTheFirstList(t *testing.T) {
	pods := corev1.SchemeGroupVersion.WithResource("pods")
	var sink sinktest.Recorder[*corev1.Pod]
	f := Follow(t.Context(), New(), Config[*corev1.Pod]{Sink: &sink})
	f.of.Store(&pods)
	called := 0
	f.Replace(source.List{Done: func() { called++ }}, "100")
	assert.Nil(t, f.offer(&answer{of: target{GroupVersionResource: pods}}))
	reports, _ := sink.Take()
	reports[0].List.Done()
	assert.Equal(t, 1, called, "the source's own, too")
	assert.NotNil(t, f.offer(&answer{of: target{GroupVersionResource: pods}}))
}

// TestRejectedByTheWatch: a state that the watch rejects is reported, unless the store has a
// later one, which the program has written.
func TestRejectedByTheWatch(t *testing.T) {
	pods := corev1.SchemeGroupVersion.WithResource("pods")
	var sink sinktest.Recorder[*corev1.Pod]
	f := Follow(t.Context(), New(), Config[*corev1.Pod]{Sink: &sink})
	f.of.Store(&pods)
	f.Replace(source.List{}, "100")
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "a", UID: "U1", ResourceVersion: "105"}}
	state := ownwrites.State[*corev1.Pod]{Key: index.KeyOf(pod), UID: pod.UID, Version: 105, Object: pod}
	assert.Empty(t, f.report(&answer{key: state.Key, uid: pod.UID, version: 105}, state))
	reports, errs := sink.Take()
	require.NotEmpty(t, reports)
	assert.Same(t, pod, reports[len(reports)-1].Changes[0].Object)
	assert.Empty(t, errs)

	reject := func(version string) []error {
		f.Report(&source.RejectedError{Key: state.Key, ResourceVersion: version, Err: errors.New("it cannot be decoded")})
		_, errs := sink.Take()
		return errs
	}
	assert.Empty(t, reject("103"))
	assert.Len(t, reject("107"), 1)
	assert.Zero(t, f.keys.Load(), "the watch is ahead")
}
