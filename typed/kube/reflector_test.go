package kube_test

import (
	"context"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	typedcorev1 "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/tools/cache"

	"github.com/kubetyped/informer/index"
	"github.com/kubetyped/informer/internal/test/rig"
	"github.com/kubetyped/informer/typed"
	"github.com/kubetyped/informer/typed/kube"
)

// TestBadInput makes every mistake that arguments of sources allow.
func TestBadInput(t *testing.T) {
	for name, informer := range map[string]*typed.Informer[*corev1.Pod]{
		"client is nil":                      typed.NewInformer(kube.FromClient(typedcorev1.PodInterface(nil))),
		"ListerWatcher is nil":               typed.NewInformer(kube.FromListerWatcher[*corev1.Pod](nil)),
		"source option is nil":               typed.NewInformer(kube.FromListerWatcher[*corev1.Pod](&cache.ListWatch{}, nil)),
		"WithLabelSelector: selector is nil": typed.NewInformer(kube.FromListerWatcher[*corev1.Pod](&cache.ListWatch{}, kube.WithLabelSelector(nil))),
		"WithFieldSelector: selector is nil": typed.NewInformer(kube.FromListerWatcher[*corev1.Pod](&cache.ListWatch{}, kube.WithFieldSelector(nil))),
	} {
		err := informer.Run(t.Context())
		assert.ErrorContains(t, err, name)
		assert.ErrorContains(t, err, "*v1.Pod", "names the informer")
		assert.ErrorContains(t, informer.WaitForSync(t.Context()), name)
	}
}

// TestAdditionsWithoutOrder: a watch that began without a version opens with all objects, in any
// order, which does not move the version. The events after them do.
func TestAdditionsWithoutOrder(t *testing.T) {
	rig.InBubble(t, func(t *testing.T) {
		stream := watch.NewFake()
		pods := typed.NewInformer(kube.FromListerWatcher[*corev1.Pod](&cache.ListWatch{
			ListWithContextFunc: func(context.Context, metav1.ListOptions) (runtime.Object, error) { return &corev1.PodList{}, nil },
			WatchFuncWithContext: func(context.Context, metav1.ListOptions) (watch.Interface, error) {
				return stream, nil
			},
		}, kube.WithoutWatchList()))
		rig.Start(t, pods)
		pod := func(name, version string) *corev1.Pod {
			pod := rig.NewPod(name, "")
			pod.ResourceVersion = version
			return pod
		}
		for _, step := range []struct {
			send    func(runtime.Object)
			object  *corev1.Pod
			reached string
		}{
			{stream.Add, pod("a", "7"), ""},
			{stream.Add, pod("b", "5"), ""},
			{stream.Modify, pod("b", "8"), "8"},
			{stream.Add, pod("c", "9"), "9"},
		} {
			step.send(step.object)
			synctest.Wait()
			_, found := pods.Get(index.KeyOf(step.object))
			assert.True(t, found)
			assert.Equal(t, step.reached, pods.Status().ResourceVersion)
		}
	})
}
