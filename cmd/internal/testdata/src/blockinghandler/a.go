package blockinghandler

import (
	"context"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/tools/cache"

	"github.com/kubetyped/informer/typed"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

type controller struct{ client client.Client }

func (c *controller) handler(ctx context.Context) cache.ResourceEventHandler {
	time.Sleep(time.Second)
	return cache.ResourceEventHandlerFuncs{
		AddFunc: func(obj any) {
			time.Sleep(time.Second) // want `time.Sleep in a handler`
			go func() { time.Sleep(time.Second) }()
		},
		UpdateFunc: c.update,
		DeleteFunc: func(obj any) {
			_ = c.client.Update(ctx, new(corev1.Pod)) // want `a request to the API server in a handler`
		},
	}
}

func (c *controller) update(old, updated any) {
	_ = wait.PollUntilContextTimeout(context.Background(), 1, 2, true, nil) // want `wait.PollUntilContextTimeout in a handler`
	wait.Until(nil, 1, nil)
}

func typedHandlers() []any {
	return []any{
		cache.TypedResourceEventHandlerFuncs[*corev1.Pod]{AddFunc: func(*corev1.Pod) {
			time.Sleep(time.Second) // want `time.Sleep in a handler`
		}},
		typed.HandlerFuncs[*corev1.Pod]{DeleteFunc: func(typed.Deleted[*corev1.Pod]) {
			time.Sleep(time.Second) // want `time.Sleep in a handler`
		}},
	}
}
