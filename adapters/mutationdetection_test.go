package adapters_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/client-go/tools/cache"

	"github.com/kubetyped/informer/adapters"
	"github.com/kubetyped/informer/adapters/informers"
	"github.com/kubetyped/informer/index"
	"github.com/kubetyped/informer/typed"
	"github.com/kubetyped/informer/typed/observe"
)

func TestDetectMutations(t *testing.T) {
	for name, make := range map[string]func(cache.ListerWatcher) cache.SharedIndexInformer{
		"any type": func(lw cache.ListerWatcher) cache.SharedIndexInformer {
			return adapters.NewSharedIndexInformer(lw, &corev1.Pod{}, 0, cache.Indexers{})
		},
		"typed": func(lw cache.ListerWatcher) cache.SharedIndexInformer {
			return adapters.NewTypedSharedIndexInformer[*corev1.Pod](lw, cache.SharedIndexInformerOptions{})
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := &script{}
				s.lists("10", pod("a", "1"), pod("b", "2"))
				informer := make(s)
				var received []observe.Mutation
				require.NoError(t, adapters.DetectMutations(informer, time.Minute, func(m observe.Mutation) { received = append(received, m) }))
				_, err := informer.AddEventHandler(cache.ResourceEventHandlerFuncs{AddFunc: func(obj any) {
					if p := obj.(*corev1.Pod); p.Name == "b" {
						p.Spec.NodeName = "mine"
					}
				}})
				require.NoError(t, err)
				start(t, informer)
				synctest.Wait()
				s.send(t, added(pod("c", "11")))
				time.Sleep(time.Minute)
				synctest.Wait()
				require.Len(t, received, 1)
				assert.Equal(t, "b", received[0].Key.Name)
				assert.Equal(t, []observe.ModifiedField{{Path: "spec.nodeName", Old: `""`, New: `"mine"`}}, received[0].Fields)
				assert.ErrorIs(t, adapters.DetectMutations(informer, time.Minute, func(observe.Mutation) {}), typed.ErrStarted)
			})
		})
	}
}

func TestDetectMutationsOfOthers(t *testing.T) {
	theirs := cache.NewSharedIndexInformer(&script{}, &corev1.Pod{}, 0, cache.Indexers{})
	assert.ErrorContains(t, adapters.DetectMutations(theirs, time.Minute, func(observe.Mutation) {}), "was not made by this package")
	ours := adapters.SharedIndexInformer(typed.NewInformer[*corev1.Pod](&syncedSource{}, typed.WithIndexer(index.NewIndexer[*corev1.Pod]())))
	assert.ErrorContains(t, adapters.DetectMutations(ours, time.Minute, nil), "report function is nil")
	assert.NoError(t, adapters.DetectMutations(ours, time.Minute, func(observe.Mutation) {}))
	ofFactory := informers.NewSharedInformerFactory(fake.NewClientset(), 0).Core().V1().Pods().Informer()
	assert.NoError(t, adapters.DetectMutations(ofFactory, time.Minute, func(observe.Mutation) {}))
}
