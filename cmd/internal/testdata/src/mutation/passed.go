package mutation

import (
	"context"
	"errors"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/cache"

	"mutation/helpers"
)

type syncHandler func(obj any) error

func (h syncHandler) toSyncer() helpers.Syncer { return helpers.SyncFunc(h) }

type queued struct{ informer cache.SharedIndexInformer }

func newQueued(informer cache.SharedIndexInformer) *queued {
	q := &queued{informer: informer}
	_ = helpers.NewQueueInformer(helpers.WithInformer(q.informer), helpers.WithSyncer(syncHandler(q.sync).toSyncer()))
	_ = helpers.NewQueueInformer(helpers.WithSyncer(syncHandler(q.other).toSyncer()))
	helpers.Process(informer, func(obj any) {
		pod := obj.(*corev1.Pod)
		pod.DeepCopy().Name = "x"
		pod.Labels["a"] = "b" // want `Labels.* of an object of a cache, the object that Process passes`
	})
	helpers.Transform(informer, func(obj any) (any, error) {
		obj.(*corev1.Pod).Annotations = nil
		return obj, nil
	})
	return q
}

func (q *queued) sync(obj any) error {
	pod, ok := obj.(*corev1.Pod)
	if !ok {
		return errors.New("no Pod")
	}
	out := pod.DeepCopy()
	out.Status.Phase = "Running"
	setPhase(pod) // want `Status.Phase of an object of a cache, the object that NewQueueInformer passes`
	return nil
}

func setPhase(pod *corev1.Pod) { pod.Status.Phase = "Running" }

// other is for objects of elsewhere.
func (q *queued) other(obj any) error {
	obj.(*corev1.Pod).Status.Phase = "Running"
	return nil
}

// keys are not objects.
func (q *queued) keys(ctx context.Context) {
	helpers.ProcessKeys(ctx, q.informer, func(_ context.Context, key any) error {
		counts := key.(map[string]int)
		counts["a"]++
		return nil
	})
}
