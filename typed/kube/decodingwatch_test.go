package kube

import (
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
)

// TestMaskedWatchEnds: a watch that is stopped leaves no goroutine, with or without a reader; one
// that ends ends.
func TestMaskedWatchEnds(t *testing.T) {
	config, err := newSourceConfig([]SourceOption{WithoutFields("metadata.labels")})
	require.NoError(t, err)
	synctest.Test(t, func(t *testing.T) { // fails if a goroutine is left
		for _, ends := range []func(w watch.Interface, from *watch.FakeWatcher){
			func(w watch.Interface, _ *watch.FakeWatcher) { w.Stop(); w.Stop() },
			func(_ watch.Interface, from *watch.FakeWatcher) { from.Stop() },
		} {
			from := watch.NewFake()
			d := decodingListerWatcher[*corev1.Pod]{mask: config.rest.mask, responses: &restListerWatcher[*corev1.Pod]{}}
			w := d.masked(from)
			go from.Add(&corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "one", Labels: map[string]string{"app": "web"}}})
			assert.Equal(t, &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "one"}}, (<-w.ResultChan()).Object)
			go from.Add(&corev1.Pod{})
			synctest.Wait() // an event waits for a reader
			ends(w, from)
			if from.IsStopped() {
				for range w.ResultChan() {
				}
			}
			d.responses.streams.Wait()
		}
	})
}
