package kube_test

import (
	"context"
	"fmt"

	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	k8sruntime "k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/tools/cache"

	"github.com/kubetyped/informer/index"
	"github.com/kubetyped/informer/internal/test/rig"
	"github.com/kubetyped/informer/typed/kube"
	"github.com/kubetyped/informer/typed/source"
)

// TestProgress watches a list come in.
func TestProgress(t *testing.T) {
	run := func(src source.Source[*corev1.Pod]) (steps []string) {
		ctx, cancel := context.WithCancel(t.Context())
		require.NoError(t, src.Run(ctx, progressSink{func(received, expected int) {
			steps = append(steps, fmt.Sprintf("%d of %d", received, expected))
		}, cancel}))
		return steps
	}
	_, client := rig.Serve(t, 25)
	pods := client.CoreV1().Pods("")
	assert.Equal(t, []string{"25 of 25"}, run(kube.FromClient(pods, kube.WithoutWatchList())))
	streamed := run(kube.FromClient(pods))
	assert.Len(t, streamed, 25)
	assert.Equal(t, "25 of 0", streamed[24])
	paged := run(kube.FromListerWatcher[*corev1.Pod](&cache.ListWatch{
		ListWithContextFunc: func(ctx context.Context, opts metav1.ListOptions) (k8sruntime.Object, error) {
			opts.ResourceVersion, opts.ResourceVersionMatch, opts.Limit = "", "", 10 // a server without a cache
			return pods.List(ctx, opts)
		},
		WatchFuncWithContext: pods.Watch,
	}, kube.WithoutWatchList()))
	assert.Equal(t, []string{"10 of 25", "20 of 25", "25 of 25"}, paged)
}

// progressSink looks at nothing but the progress of the first list.
type progressSink struct {
	note func(received, expected int)
	done func()
}

func (s progressSink) Progress(received, expected int)                { s.note(received, expected) }
func (s progressSink) Replace(source.List, string)                    { s.done() }
func (progressSink) Stage(p *corev1.Pod, _ string) source.Staged      { return source.Keep(p) }
func (progressSink) Change(index.Change[*corev1.Pod], string)         {}
func (progressSink) Step([]index.Change[*corev1.Pod], string, func()) {}
func (progressSink) Report(error)                                     {}
func (progressSink) Decoding() (_ source.Decoding[*corev1.Pod])       { return }
