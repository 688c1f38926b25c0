package ctrlruntime

import (
	"context"
	"net/http"
	"path"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	utilnet "k8s.io/apimachinery/pkg/util/net"
	"k8s.io/apimachinery/pkg/watch"
	toolscache "k8s.io/client-go/tools/cache"
)

// namespaceKey is the key under which the context of a request has the namespace.
type namespaceKey struct{}

// namespaceTransport makes requests for all objects of a kind that are meant for those in one
// namespace, as their context says: the ListerWatchers of controller-runtime do not know it.
type namespaceTransport struct{ base http.RoundTripper }

var _ utilnet.RoundTripperWrapper = namespaceTransport{}

// WrappedRoundTripper implements net.RoundTripperWrapper.
func (t namespaceTransport) WrappedRoundTripper() http.RoundTripper { return t.base }

// RoundTrip implements http.RoundTripper.
func (t namespaceTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	namespace := namespaceIn(r.Context())
	if namespace == "" {
		return t.base.RoundTrip(r)
	}
	own, to := *r, *r.URL
	own.URL = &to
	to.Path = pathIn(namespace, to.Path)
	if to.RawPath != "" { // of a server below a path
		to.RawPath = pathIn(namespace, to.RawPath)
	}
	return t.base.RoundTrip(&own)
}

// namespaceIn returns the namespace that a request is meant for, "" if it is for all.
func namespaceIn(ctx context.Context) string {
	namespace, _ := ctx.Value(namespaceKey{}).(string)
	return namespace
}

// pathIn returns the path of the objects in a namespace for that of all: the resource is last.
func pathIn(namespace, all string) string {
	dir, resource := path.Split(all)
	return dir + "namespaces/" + namespace + "/" + resource
}

// inNamespace makes the requests of a ListerWatcher in one namespace.
func inNamespace(of toolscache.ListerWatcher, namespace string) toolscache.ListerWatcher {
	all := toolscache.ToListerWatcherWithContext(of)
	in := func(ctx context.Context) context.Context { return context.WithValue(ctx, namespaceKey{}, namespace) }
	return toolscache.ToListWatcherWithWatchListSemantics(&toolscache.ListWatch{
		ListWithContextFunc: func(ctx context.Context, opts metav1.ListOptions) (runtime.Object, error) {
			return all.ListWithContext(in(ctx), opts)
		},
		WatchFuncWithContext: func(ctx context.Context, opts metav1.ListOptions) (watch.Interface, error) {
			return all.WatchWithContext(in(ctx), opts)
		},
	}, of)
}
