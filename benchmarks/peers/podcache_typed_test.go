package peers

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"

	"github.com/kubetyped/informer/index"
	"github.com/kubetyped/informer/typed"
	"github.com/kubetyped/informer/typed/kube"
)

// typedCache is this project's informer.
type typedCache struct {
	*typed.Informer[*corev1.Pod]
	nodes, apps *index.Index[string, *corev1.Pod]
	end         func()
}

func startTyped(tb testing.TB, from *source, handlers ...calls) podCache {
	c := &typedCache{
		Informer: typed.NewInformer(kube.FromListerWatcher[*corev1.Pod](from)),
		nodes:    nodeIndex(),
		apps:     appIndex(),
	}
	require.NoError(tb, c.AddIndexes(c.nodes, c.apps))
	var registrations []*typed.Registration
	for _, h := range handlers {
		var funcs typed.HandlerFuncs[*corev1.Pod]
		if h.add != nil {
			funcs.AddFunc = func(pod *corev1.Pod, _ bool) { h.add(pod) }
		}
		if h.update != nil {
			funcs.UpdateFunc = func(_, pod *corev1.Pod) { h.update(pod, 0) }
		}
		registration, err := c.Handle(funcs)
		require.NoError(tb, err)
		registrations = append(registrations, registration)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- c.Run(ctx) }()
	c.end = func() {
		cancel()
		require.NoError(tb, <-ended)
	}
	require.NoError(tb, c.WaitForSync(ctx))
	for _, registration := range registrations {
		<-registration.Synced()
	}
	return c
}

func nodeIndex() *index.Index[string, *corev1.Pod] {
	return index.Single("node", func(pod *corev1.Pod) (string, bool) {
		return pod.Spec.NodeName, pod.Spec.NodeName != ""
	})
}

func appIndex() *index.Index[string, *corev1.Pod] {
	return index.Single("app", func(pod *corev1.Pod) (string, bool) {
		app, ok := pod.Labels["app"]
		return app, ok
	})
}

func (c *typedCache) get(key podKey) (*corev1.Pod, bool) { return c.Get(key.Key) }

func (c *typedCache) byApp(app string) found { return found{pods: c.apps.Get(app)} }

func (c *typedCache) byNode(node string) found { return found{pods: c.nodes.Get(node)} }

func (c *typedCache) inNamespace(namespace string) found {
	return found{pods: c.ListNamespace(namespace)}
}

func (c *typedCache) all() found { return found{pods: c.List()} }

func (c *typedCache) rangeByApp(app string) int {
	n := 0
	for range c.apps.All(app) {
		n++
	}
	return n
}

func (c *typedCache) rangeAll() int {
	n := 0
	for range c.All() {
		n++
	}
	return n
}

func (c *typedCache) stop() { c.end() }
