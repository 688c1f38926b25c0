package peers

import (
	"testing"

	"github.com/stretchr/testify/require"
	"istio.io/istio/pkg/kube"
	"istio.io/istio/pkg/kube/controllers"
	"istio.io/istio/pkg/kube/krt"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"
)

// krtCache is a collection of what an informer of istio has.
type krtCache struct {
	krt.Collection[*corev1.Pod]
	nodes, apps, namespaces krt.Index[string, *corev1.Pod]
	end                     func()
}

// startKRT makes the informer from istio's fake client, whose answers to
// requests for Pods are those of from.
func startKRT(tb testing.TB, from *source, handlers ...calls) podCache {
	server := kube.NewFakeClient()
	pods := server.Kube().(*fake.Clientset)
	pods.PrependReactor("list", "pods", func(clienttesting.Action) (bool, runtime.Object, error) {
		list, err := from.podList(metav1.ListOptions{})
		return true, list, err
	})
	pods.PrependWatchReactor("pods", func(clienttesting.Action) (bool, watch.Interface, error) {
		return true, from.Feed, nil
	})

	stop := make(chan struct{})
	c := &krtCache{Collection: krt.NewInformer[*corev1.Pod](server, krt.WithStop(stop), krt.WithName("pods"))}
	c.nodes = krt.NewIndex(c.Collection, "node", func(pod *corev1.Pod) []string {
		if pod.Spec.NodeName == "" {
			return nil
		}
		return []string{pod.Spec.NodeName}
	})
	c.apps = krt.NewIndex(c.Collection, "app", func(pod *corev1.Pod) []string {
		if app, ok := pod.Labels["app"]; ok {
			return []string{app}
		}
		return nil
	})
	c.namespaces = krt.NewNamespaceIndex(c.Collection)
	var registrations []krt.HandlerRegistration
	for _, h := range handlers {
		registrations = append(registrations, c.RegisterBatch(h.collectionHandler, true))
	}
	require.True(tb, server.RunAndWait(stop))
	c.end = func() {
		close(stop)
		server.Shutdown()
	}
	require.True(tb, c.WaitUntilSynced(stop))
	for _, registration := range registrations {
		require.True(tb, registration.WaitUntilSynced(stop))
	}
	return c
}

// collectionHandler is a handler of batches of a collection.
func (h calls) collectionHandler(events []krt.Event[*corev1.Pod]) {
	for _, event := range events {
		switch {
		case event.Event == controllers.EventAdd && h.add != nil:
			h.add(*event.New)
		case event.Event == controllers.EventUpdate && h.update != nil:
			h.update(*event.New, 0)
		}
	}
}

func (c *krtCache) get(key podKey) (*corev1.Pod, bool) {
	pod := c.GetKey(key.joined)
	if pod == nil {
		return nil, false
	}
	return *pod, true
}

func (c *krtCache) byApp(app string) found { return found{pods: c.apps.Lookup(app)} }

func (c *krtCache) byNode(node string) found { return found{pods: c.nodes.Lookup(node)} }

func (c *krtCache) inNamespace(namespace string) found {
	return found{pods: c.namespaces.Lookup(namespace)}
}

func (c *krtCache) all() found { return found{pods: c.List()} }

func (c *krtCache) stop() { c.end() }
