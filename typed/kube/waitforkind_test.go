package kube_test

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"

	"github.com/kubetyped/informer/apitest"
	"github.com/kubetyped/informer/index"
	"github.com/kubetyped/informer/typed"
	"github.com/kubetyped/informer/typed/kube"
	"github.com/kubetyped/informer/typed/report"
)

// definition is a CustomResourceDefinition, of which nothing is needed.
type definition struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`
}

// DeepCopyObject implements runtime.Object.
func (d *definition) DeepCopyObject() runtime.Object {
	own := &definition{TypeMeta: d.TypeMeta}
	d.ObjectMeta.DeepCopyInto(&own.ObjectMeta)
	return own
}

var (
	gadgetResource      = schema.GroupVersionResource{Group: "shop.example.com", Version: "v1", Resource: "gadgets"}
	definitionsResource = schema.GroupVersionResource{Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions"}
)

// newGadget returns a custom resource, of which an informer has the fields of a Network.
func newGadget(name string) *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": gadgetResource.GroupVersion().String(), "kind": "Gadget",
		"metadata": map[string]any{"namespace": "shop", "name": name},
	}}
}

// gadgetServer is a server that does not always serve gadgets, and whose discovery may fail.
type gadgetServer struct {
	*apitest.Server
	served, fails atomic.Bool
}

func newGadgetServer(t *testing.T) *gadgetServer {
	return &gadgetServer{Server: apitest.Start(t, apitest.WithResources(
		apitest.Resource{GroupVersionResource: gadgetResource, Kind: "Gadget"},
		apitest.Resource{GroupVersionResource: definitionsResource, Kind: "CustomResourceDefinition", ClusterScoped: true, Type: (*definition)(nil)},
	))}
}

func (s *gadgetServer) config(definitions bool) *rest.Config {
	config := s.Config()
	config.Wrap(func(base http.RoundTripper) http.RoundTripper {
		return roundTripper(func(r *http.Request) (*http.Response, error) {
			answer := func(code int) (*http.Response, error) {
				return &http.Response{StatusCode: code, Body: http.NoBody, Header: http.Header{}, Request: r}, nil
			}
			group := "/apis/" + gadgetResource.GroupVersion().String()
			switch {
			case s.fails.Load() && r.URL.Path == group:
				return answer(http.StatusServiceUnavailable)
			case !s.served.Load() && strings.HasPrefix(r.URL.Path, group):
				return answer(http.StatusNotFound)
			case !definitions && strings.HasPrefix(r.URL.Path, "/apis/apiextensions.k8s.io"):
				return answer(http.StatusForbidden)
			}
			return base.RoundTrip(r)
		})
	})
	return config
}

// roundTripper is a function as a transport.
type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// TestWaitForKind: an informer is synced and empty, and reports why, while the server does not
// have its kind; it has the objects within ten seconds, a second if it may watch definitions,
// of when it has it. It deletes them when the kind has gone, and not while discovery fails.
func TestWaitForKind(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		definitions bool
		within      time.Duration
	}{
		"with definitions":    {true, time.Second},
		"without definitions": {false, 11 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				srv := newGadgetServer(t)
				require.NoError(t, srv.Create(t.Context(), newGadget("a")))
				gadgets := typed.NewInformer(kube.FromREST[*Network](srv.config(test.definitions), kube.WithResource(gadgetResource), kube.WaitForKind()))
				var deleted atomic.Int32
				_, err := gadgets.Handle(typed.HandlerFuncs[*Network]{DeleteFunc: func(typed.Deleted[*Network]) { deleted.Add(1) }})
				require.NoError(t, err)
				startIn(t, t.Context(), gadgets)

				require.NoError(t, gadgets.WaitForSync(t.Context()))
				time.Sleep(5*time.Minute + 3*time.Second)
				synctest.Wait()
				assert.Equal(t, report.PhaseSynced, gadgets.Status().Phase)
				assert.Zero(t, gadgets.Len())
				assert.True(t, meta.IsNoMatchError(gadgets.Status().Err), "%v", gadgets.Status().Err)

				arrive := func() {
					t.Helper()
					srv.served.Store(true)
					define(t, srv, name)
					time.Sleep(test.within)
					synctest.Wait()
					assert.Equal(t, 1, gadgets.Len())
					assert.NoError(t, gadgets.Status().Err)
				}
				arrive()

				srv.served.Store(false)
				srv.Inject(apitest.Fault{Resource: "gadgets", Open: true, End: apitest.Clean})
				time.Sleep(1500 * time.Millisecond) // less than between the two looks
				srv.served.Store(true)
				time.Sleep(time.Minute)
				synctest.Wait()
				assert.Equal(t, 1, gadgets.Len(), "only one look has missed it")

				srv.fails.Store(true)
				srv.served.Store(false)
				srv.Inject(apitest.Fault{Resource: "gadgets", Open: true, End: apitest.Clean})
				time.Sleep(3 * time.Minute)
				synctest.Wait()
				assert.Equal(t, 1, gadgets.Len(), "nobody knows that it has gone")
				assert.Zero(t, deleted.Load())

				srv.fails.Store(false)
				time.Sleep(3 * time.Minute)
				synctest.Wait()
				assert.Zero(t, gadgets.Len())
				assert.EqualValues(t, 1, deleted.Load())
				assert.True(t, meta.IsNoMatchError(gadgets.Status().Err))
				arrive()
			})
		})
	}
}

// define changes a definition.
func define(t *testing.T, srv *gadgetServer, name string) {
	t.Helper()
	require.NoError(t, srv.Create(t.Context(), &definition{ObjectMeta: metav1.ObjectMeta{GenerateName: strings.ReplaceAll(name, " ", "-") + "-"}}))
}

// TestMissingKindIsReportedAgain: the error is that of a missing kind again, after another one.
func TestMissingKindIsReportedAgain(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		srv := newGadgetServer(t)
		gadgets := typed.NewInformer(kube.FromREST[*Network](srv.config(false), kube.WithResource(gadgetResource), kube.WaitForKind()))
		startIn(t, t.Context(), gadgets)
		require.NoError(t, gadgets.WaitForSync(t.Context()))
		relists := gadgets.Status().Relists

		srv.fails.Store(true)
		time.Sleep(time.Minute)
		synctest.Wait()
		require.Error(t, gadgets.Status().Err)
		assert.False(t, meta.IsNoMatchError(gadgets.Status().Err), "nobody knows whether the server has it")

		srv.fails.Store(false)
		time.Sleep(time.Minute)
		synctest.Wait()
		status := gadgets.Status()
		assert.True(t, meta.IsNoMatchError(status.Err), "%v", status.Err)
		assert.Equal(t, relists, status.Relists, "it is as empty as before")
		failed := status.Failed
		time.Sleep(time.Minute)
		synctest.Wait()
		assert.Equal(t, failed, gadgets.Status().Failed, "it is reported once")
	})
}

// TestWaitForKindOfAnUnreachableServer: the kind is looked for again as soon as other sources
// list again, not only when the time to look for a missing kind has come.
func TestWaitForKindOfAnUnreachableServer(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		srv := newGadgetServer(t)
		srv.served.Store(true)
		config := srv.config(false)
		var reachable atomic.Bool
		config.Wrap(func(base http.RoundTripper) http.RoundTripper {
			return roundTripper(func(r *http.Request) (*http.Response, error) {
				if !reachable.Load() {
					return nil, &net.OpError{Op: "dial", Net: "tcp", Err: syscall.ECONNREFUSED}
				}
				return base.RoundTrip(r)
			})
		})
		gadgets := typed.NewInformer(kube.FromREST[*Network](config, kube.WithResource(gadgetResource), kube.WaitForKind()))
		startIn(t, t.Context(), gadgets)
		time.Sleep(2 * time.Second)
		assert.Equal(t, report.PhaseSyncing, gadgets.Phase())
		reachable.Store(true)
		time.Sleep(time.Second)
		synctest.Wait()
		assert.Equal(t, report.PhaseSynced, gadgets.Phase())
		assert.NoError(t, gadgets.Status().Err)
	})
}

// TestWaitForKindAndOwnWrites: own writes to objects of a kind that has gone are ahead of nothing.
func TestWaitForKindAndOwnWrites(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		srv := newGadgetServer(t)
		srv.served.Store(true)
		writes := kube.NewWrites()
		config := writes.Config(srv.config(false))
		gadgets := typed.NewInformer(kube.FromREST[*Network](config, kube.WithResource(gadgetResource), kube.WithWrites(writes), kube.WaitForKind()))
		startIn(t, t.Context(), gadgets)
		require.NoError(t, gadgets.WaitForSync(t.Context()))
		srv.Inject(apitest.Fault{Lag: true})
		w := newWriter[*Network](t, config, kube.WithResource(gadgetResource))
		_, err := w.Create(t.Context(), &Network{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "a"}}, metav1.CreateOptions{})
		require.NoError(t, err)
		require.Equal(t, 1, gadgets.Len())
		require.Equal(t, 1, gadgets.Status().Ahead.Keys)

		srv.served.Store(false)
		srv.Inject(apitest.Fault{Resource: "gadgets", Open: true, End: apitest.Clean})
		time.Sleep(time.Minute)
		synctest.Wait()
		assert.Zero(t, gadgets.Len())
		assert.Zero(t, gadgets.Status().Ahead)
	})
}

// TestWaitForKindOfANameWithoutNamespace: a key that the kind does not have ends the informer, and the
// objects of all namespaces are not listed.
func TestWaitForKindOfANameWithoutNamespace(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		srv := newGadgetServer(t)
		srv.served.Store(true)
		require.NoError(t, srv.Create(t.Context(), newGadget("a")))
		for key, message := range map[index.Key]string{
			{Name: "a"}:                    "the key has no namespace: WithName names a, and gadgets.v1.shop.example.com have one",
			{Namespace: "shop", Name: "b"}: "",
		} {
			gadgets := typed.NewInformer(kube.FromREST[*Network](srv.config(true), kube.WithResource(gadgetResource), kube.WithName(key), kube.WaitForKind()))
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			err := gadgets.Run(ctx)
			cancel()
			assert.Zero(t, gadgets.Len())
			if message == "" {
				assert.NoError(t, err)
			} else {
				assert.ErrorContains(t, err, message)
			}
		}
	})
}

// TestWaitForKindListsObjectsOnce: the request that shows that the server has the kind gets one object,
// not all of them.
func TestWaitForKindListsObjectsOnce(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const objects, size = 20, 10 << 10
		srv := newGadgetServer(t)
		srv.served.Store(true)
		for i := range objects {
			large := newGadget(fmt.Sprint("g-", i))
			large.SetAnnotations(map[string]string{"text": strings.Repeat("x", size)})
			require.NoError(t, srv.Create(t.Context(), large))
		}
		var received atomic.Int64
		config := srv.config(true)
		config.Wrap(func(base http.RoundTripper) http.RoundTripper {
			return roundTripper(func(r *http.Request) (*http.Response, error) {
				response, err := base.RoundTrip(r)
				if err == nil {
					response.Body = counted{response.Body, &received}
				}
				return response, err
			})
		})
		gadgets := typed.NewInformer(kube.FromREST[*Network](config, kube.WithResource(gadgetResource), kube.WaitForKind()))
		startIn(t, t.Context(), gadgets)
		require.NoError(t, gadgets.WaitForSync(t.Context()))
		assert.Equal(t, objects, gadgets.Len())
		assert.Less(t, received.Load(), int64(objects*size*3/2))
	})
}

// counted is a body whose bytes are counted.
type counted struct {
	io.ReadCloser
	bytes *atomic.Int64
}

// Read implements io.Reader.
func (c counted) Read(into []byte) (int, error) {
	n, err := c.ReadCloser.Read(into)
	c.bytes.Add(int64(n))
	return n, err
}
