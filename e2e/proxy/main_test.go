package proxy_test

import (
	"context"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/kubetyped/informer/apitest"
	"github.com/kubetyped/informer/e2e/proxy"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// patience bounds what a test waits for; nothing waits that long unless it fails.
const patience = time.Minute

// moment is how long a test watches for what must not happen.
const moment = 100 * time.Millisecond

// rig is a proxy with an API server behind it.
type rig struct {
	*testing.T
	ctx    context.Context
	server *apitest.Server
	proxy  *proxy.Proxy
}

func newRig(t *testing.T) *rig {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	t.Cleanup(cancel)
	server := apitest.Start(t, apitest.WithBookmarks(0))
	return &rig{t, ctx, server, start(t, server.Config())}
}

// in returns the same rig for a subtest.
func (r *rig) in(t *testing.T) *rig {
	own := *r
	own.T = t
	return &own
}

func start(t *testing.T, upstream *rest.Config) *proxy.Proxy {
	t.Helper()
	p, err := proxy.Start(upstream, proxy.WithLog(t.Output()))
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, p.Close()) })
	return p
}

// client returns a client through the proxy that shares its connections with
// others.
func (r *rig) client() *kubernetes.Clientset {
	r.Helper()
	return r.clientOf(r.proxy.Config())
}

// ownClient returns a client through the proxy that shares no connection.
func (r *rig) ownClient() *kubernetes.Clientset {
	r.Helper()
	config := r.proxy.Config()
	transport := ownTransport(r.T, config)
	config.TLSClientConfig = rest.TLSClientConfig{}
	config.Transport = transport
	return r.clientOf(config)
}

func (r *rig) clientOf(config *rest.Config) *kubernetes.Clientset {
	r.Helper()
	client, err := kubernetes.NewForConfig(config)
	require.NoError(r, err)
	return client
}

// ownTransport returns a transport for config that is not shared.
func ownTransport(t *testing.T, config *rest.Config) *http.Transport {
	t.Helper()
	tlsConfig, err := rest.TLSConfigFor(config)
	require.NoError(t, err)
	transport := &http.Transport{TLSClientConfig: tlsConfig, ForceAttemptHTTP2: true}
	t.Cleanup(transport.CloseIdleConnections)
	return transport
}

// watchPods opens a watch from now on, which is stopped when the test ends.
func (r *rig) watchPods(client kubernetes.Interface) watch.Interface {
	r.Helper()
	return r.watching(client.CoreV1().Pods("").Watch(r.ctx, metav1.ListOptions{ResourceVersion: r.server.ResourceVersion()}))
}

func (r *rig) watchConfigMaps(client kubernetes.Interface) watch.Interface {
	r.Helper()
	return r.watching(client.CoreV1().ConfigMaps("").Watch(r.ctx, metav1.ListOptions{ResourceVersion: r.server.ResourceVersion()}))
}

func (r *rig) watching(w watch.Interface, err error) watch.Interface {
	r.Helper()
	require.NoError(r, err)
	r.Cleanup(w.Stop)
	return w
}

// next returns the next event of a watch, or false at its end.
func (r *rig) next(w watch.Interface) (watch.Event, bool) {
	r.Helper()
	select {
	case e, ok := <-w.ResultChan():
		return e, ok
	case <-r.ctx.Done():
		require.Fail(r, "no event")
		return watch.Event{}, false
	}
}

// name returns the name of the object of the next event.
func (r *rig) name(w watch.Interface) string {
	r.Helper()
	e, ok := r.next(w)
	require.True(r, ok, "the watch has ended")
	object, ok := e.Object.(metav1.Object)
	require.True(r, ok, "%+v", e)
	return object.GetName()
}

// nothing checks that a watch neither has an event nor ends.
func (r *rig) nothing(w watch.Interface) {
	r.Helper()
	select {
	case e, ok := <-w.ResultChan():
		require.Fail(r, "something came", "%+v %t", e, ok)
	case <-time.After(moment):
	}
}

func (r *rig) create(names ...string) {
	r.Helper()
	for _, name := range names {
		require.NoError(r, r.server.Create(r.ctx, pod(name)))
	}
}

func (r *rig) waitFor(condition func() bool) {
	r.Helper()
	require.NoError(r, r.proxy.WaitFor(r.ctx, condition))
}

func pod(name string) *corev1.Pod {
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name},
		Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "c", Image: "i"}}},
	}
}

func configMap(name string) *corev1.ConfigMap {
	return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name}}
}
