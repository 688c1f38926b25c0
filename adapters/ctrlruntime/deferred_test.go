package ctrlruntime_test

import (
	"context"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-logr/logr"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"
	toolscache "k8s.io/client-go/tools/cache"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/config"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/kubetyped/informer/adapters/ctrlruntime"
	"github.com/kubetyped/informer/apitest"
	"github.com/kubetyped/informer/typed/kube"
	"github.com/kubetyped/informer/typed/source"
)

// kindServer is a server whose kind widgets comes and goes, and whose discovery may fail.
type kindServer struct {
	*apitest.Server // has widgets
	without         *apitest.Server
	served, fails   atomic.Bool
}

func newKindServer(t *testing.T, opts ...apitest.Option) *kindServer {
	return &kindServer{Server: startWithWidgets(t, opts...), without: apitest.Start(t)}
}

func (s *kindServer) config() *rest.Config {
	config := apitest.Balance(func(r *http.Request) *apitest.Server {
		group := strings.HasPrefix(r.URL.Path, "/apis/"+widgetKind.Group)
		if !s.served.Load() && (group || r.URL.Path == "/apis") {
			return s.without
		}
		return s.Server
	})
	config.Wrap(func(base http.RoundTripper) http.RoundTripper {
		return roundTripperFunc(func(r *http.Request) (*http.Response, error) {
			if s.fails.Load() && (r.URL.Path == "/apis" || r.URL.Path == "/apis/"+widgetKind.GroupVersion().String()) {
				return &http.Response{StatusCode: http.StatusServiceUnavailable, Body: http.NoBody, Header: http.Header{}}, nil
			}
			return base.RoundTrip(r)
		})
	})
	return config
}

type roundTripperFunc func(*http.Request) (*http.Response, error)

func (f roundTripperFunc) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// breakWatches ends the open watches of widgets, as a server does that does not have them
// any more.
func (s *kindServer) breakWatches() {
	s.Inject(apitest.Fault{Resource: "widgets", Open: true, End: apitest.Clean})
}

func newWidget(name string, size int) *widget {
	return &widget{ObjectMeta: metav1.ObjectMeta{Namespace: "one", Name: name, Labels: map[string]string{"of": "test"}}, Spec: widgetSpec{Size: size}}
}

// TestKindsThatComeLater: a cache starts, syncs and serves others while the server does not
// have a kind; when it has it, handlers and indexes are there, and when it has gone, the
// objects are deleted, but not while discovery fails.
func TestKindsThatComeLater(t *testing.T) {
	for name, byObject := range map[string]map[client.Object]cache.ByObject{
		"as others": nil,
		"by object": {&widget{}: {Label: labels.SelectorFromSet(labels.Set{"of": "test"})}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				srv := newKindServer(t)
				require.NoError(t, srv.Create(t.Context(), newWidget("a", 1), newWidget("b", 2), &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "one", Name: "a"}}))
				c, err := ctrlruntime.NewCache(ctrlruntime.WithDeduplication())(srv.config(), cache.Options{Scheme: withWidgets, ByObject: byObject})
				require.NoError(t, err)
				require.NoError(t, c.IndexField(t.Context(), &widget{}, "size", func(obj client.Object) []string {
					return []string{strings.Repeat("x", obj.(*widget).Spec.Size)}
				}))
				informer, err := c.GetInformer(t.Context(), &widget{})
				require.NoError(t, err)
				var added, initial, deleted atomic.Int32
				registration, err := informer.AddEventHandler(toolscache.ResourceEventHandlerDetailedFuncs{
					AddFunc: func(_ any, first bool) {
						added.Add(1)
						if first {
							initial.Add(1)
						}
					},
					DeleteFunc: func(any) { deleted.Add(1) },
				})
				require.NoError(t, err)
				constant := toolscache.Indexers{"own": func(any) ([]string, error) { return []string{"all"}, nil }}
				require.NoError(t, informer.AddIndexers(constant))
				require.ErrorContains(t, informer.AddIndexers(constant), `there is an index "own" already`)
				require.ErrorContains(t, c.IndexField(t.Context(), &widget{}, "size", func(client.Object) []string { return nil }), `there is an index of the field "size" already`)
				ctx := runCacheFor(t, c, time.Hour)
				require.True(t, c.WaitForCacheSync(ctx))
				assert.True(t, registration.HasSynced(), "nothing is waited for")
				assert.Equal(t, []schema.GroupVersionKind{widgetKind}, ctrlruntime.Waiting(c))
				var pods corev1.PodList
				require.NoError(t, c.List(ctx, &pods))
				assert.Len(t, pods.Items, 1, "others go on")
				var widgets widgetList
				assert.True(t, meta.IsNoMatchError(c.List(ctx, &widgets)))
				assert.True(t, meta.IsNoMatchError(c.Get(ctx, client.ObjectKey{Namespace: "one", Name: "a"}, &widget{})))

				time.Sleep(5 * time.Minute)
				srv.served.Store(true)
				time.Sleep(11 * time.Second)
				synctest.Wait()
				assert.Empty(t, ctrlruntime.Waiting(c))
				assert.EqualValues(t, 2, added.Load())
				assert.EqualValues(t, 2, initial.Load(), "they are of a list")
				require.NoError(t, c.List(ctx, &widgets, client.MatchingFields{"size": "xx"}))
				require.Len(t, widgets.Items, 1)
				assert.Equal(t, "b", widgets.Items[0].Name)

				srv.fails.Store(true)
				srv.served.Store(false)
				srv.breakWatches()
				time.Sleep(3 * time.Minute)
				synctest.Wait()
				assert.Zero(t, deleted.Load(), "nobody knows that they have gone")
				require.NoError(t, c.List(ctx, &widgets))
				assert.Len(t, widgets.Items, 2)

				srv.fails.Store(false)
				time.Sleep(2 * time.Minute)
				synctest.Wait()
				assert.EqualValues(t, 2, deleted.Load())
				assert.Equal(t, []schema.GroupVersionKind{widgetKind}, ctrlruntime.Waiting(c))
				assert.True(t, meta.IsNoMatchError(c.List(ctx, &widgets)))

				srv.served.Store(true)
				time.Sleep(time.Minute)
				synctest.Wait()
				assert.EqualValues(t, 4, added.Load(), "it is back")
				require.NoError(t, c.List(ctx, &widgets))
				assert.Len(t, widgets.Items, 2)
				assert.EqualValues(t, 2, deleted.Load())
			})
		})
	}
}

// TestIndexesOfKindsThatComeLater: an index that the informer of a kind would refuse is an error at
// once, as with other kinds, and does not keep the informer from beginning.
func TestIndexesOfKindsThatComeLater(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := newKindServer(t)
		require.NoError(t, srv.Create(t.Context(), newWidget("a", 1)))
		c, err := ctrlruntime.NewCache()(srv.config(), cache.Options{Scheme: withWidgets})
		require.NoError(t, err)
		informer, err := c.GetInformer(t.Context(), &widget{})
		require.NoError(t, err)
		values := func(any) ([]string, error) { return nil, nil }
		none := func(client.Object) []string { return nil }
		require.NoError(t, c.IndexField(t.Context(), &widget{}, "size", none))
		require.NoError(t, informer.AddIndexers(toolscache.Indexers{"field:part": values}))
		assert.Error(t, informer.AddIndexers(toolscache.Indexers{toolscache.NamespaceIndex: toolscache.MetaNamespaceIndexFunc}))
		assert.Error(t, informer.AddIndexers(toolscache.Indexers{"field:size": values}))
		assert.Error(t, informer.AddIndexers(toolscache.Indexers{"nothing": nil}))
		assert.Error(t, c.IndexField(t.Context(), &widget{}, "part", none))
		ctx := runCacheFor(t, c, time.Hour)
		srv.served.Store(true)
		time.Sleep(time.Minute)
		synctest.Wait()
		assert.Empty(t, ctrlruntime.Waiting(c))
		var widgets widgetList
		require.NoError(t, c.List(ctx, &widgets))
		assert.Len(t, widgets.Items, 1)
	})
}

// TestIndexersOfKindsThatComeLater: the caller may change the map of index functions after the call, as
// with other kinds.
func TestIndexersOfKindsThatComeLater(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := newKindServer(t)
		require.NoError(t, srv.Create(t.Context(), newWidget("a", 1)))
		c, err := ctrlruntime.NewCache()(srv.config(), cache.Options{Scheme: withWidgets})
		require.NoError(t, err)
		informer, err := c.GetInformer(t.Context(), &widget{})
		require.NoError(t, err)
		all := func(any) ([]string, error) { return []string{"all"}, nil }
		indexers := toolscache.Indexers{"first": all}
		require.NoError(t, informer.AddIndexers(indexers))
		delete(indexers, "first")
		indexers["second"] = all
		require.NoError(t, informer.AddIndexers(indexers))
		ctx := runCacheFor(t, c, time.Hour)
		srv.served.Store(true)
		time.Sleep(time.Minute)
		synctest.Wait()
		assert.Empty(t, ctrlruntime.Waiting(c))
		var widgets widgetList
		require.NoError(t, c.List(ctx, &widgets))
		assert.Len(t, widgets.Items, 1)
	})
}

// TestConsistencyOfKindsThatComeLater: handlers of the blocking client, which the informer of a kind
// would refuse, are an error at once, and do not keep the informer from beginning.
func TestConsistencyOfKindsThatComeLater(t *testing.T) {
	for name, option := range map[string]ctrlruntime.CacheOption{
		"WithOwnWrites":  ctrlruntime.WithOwnWrites(kube.NewWrites()),
		"WithNamespaces": ctrlruntime.WithNamespaces(source.NewNamespaces("one")),
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				srv := newKindServer(t)
				c, err := ctrlruntime.NewCache(option)(srv.config(), cache.Options{Scheme: withWidgets})
				require.NoError(t, err)
				_, err = c.GetInformer(t.Context(), &widget{})
				require.NoError(t, err)
				ctx := runCacheFor(t, c, time.Hour)
				blocking, err := client.New(srv.config(), client.Options{Scheme: withWidgets, Cache: &client.CacheOptions{Reader: c, EnableReadYourWritesConsistency: new(true)}})
				require.NoError(t, err)
				reading, cancel := context.WithTimeout(ctx, time.Second)
				defer cancel()
				err = blocking.Get(reading, client.ObjectKey{Namespace: "one", Name: "a"}, &widget{})
				assert.ErrorContains(t, err, "EnableReadYourWritesConsistency and "+name+" exclude each other")
				srv.served.Store(true)
				time.Sleep(time.Minute)
				synctest.Wait()
				assert.Empty(t, ctrlruntime.Waiting(c))
			})
		})
	}
}

// TestReadsOfKindsThatComeLater: a kind that only reads ask for is served when the server has it,
// and without an informer if reads must not make any.
func TestReadsOfKindsThatComeLater(t *testing.T) {
	selected := map[client.Object]cache.ByObject{&widget{}: {Label: labels.SelectorFromSet(labels.Set{"of": "test"})}}
	for name, o := range map[string]cache.Options{
		"as others":             {},
		"by object":             {ByObject: selected},
		"by object, if watched": {ByObject: selected, ReaderFailOnMissingInformer: true},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				srv := newKindServer(t)
				other := newWidget("b", 2)
				other.Labels = nil
				require.NoError(t, srv.Create(t.Context(), newWidget("a", 1), other))
				o.Scheme = withWidgets
				c, err := ctrlruntime.NewCache()(srv.config(), o)
				require.NoError(t, err)
				ctx := runCacheFor(t, c, time.Hour)
				require.True(t, c.WaitForCacheSync(ctx))
				var widgets widgetList
				if !o.ReaderFailOnMissingInformer {
					assert.True(t, meta.IsNoMatchError(c.List(ctx, &widgets)))
				}

				srv.served.Store(true)
				time.Sleep(11 * time.Second)
				synctest.Wait()
				assert.Empty(t, ctrlruntime.Waiting(c))
				if o.ReaderFailOnMissingInformer {
					assert.ErrorAs(t, c.List(ctx, &widgets), new(*cache.ErrResourceNotCached))
					return
				}
				require.NoError(t, c.List(ctx, &widgets))
				assert.Len(t, widgets.Items, 2-len(o.ByObject), "options of the kind count")
				require.NoError(t, c.Get(ctx, client.ObjectKey{Namespace: "one", Name: "a"}, &widget{}))
			})
		})
	}
}

// definition is a CustomResourceDefinition, of which nothing is needed.
type definition struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`
}

func (d *definition) DeepCopyObject() runtime.Object {
	own := &definition{TypeMeta: d.TypeMeta}
	d.ObjectMeta.DeepCopyInto(&own.ObjectMeta)
	return own
}

// TestKindsDefinedLater: who may watch CustomResourceDefinitions has a kind within a
// second.
func TestKindsDefinedLater(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		definitions := schema.GroupVersionResource{Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions"}
		srv := newKindServer(t, apitest.WithResources(apitest.Resource{
			GroupVersionResource: definitions, Kind: "CustomResourceDefinition", ClusterScoped: true, Type: (*definition)(nil),
		}))
		require.NoError(t, srv.Create(t.Context(), newWidget("a", 1)))
		c, err := ctrlruntime.NewCache()(srv.config(), cache.Options{Scheme: withWidgets})
		require.NoError(t, err)
		informer, err := c.GetInformer(t.Context(), &widget{})
		require.NoError(t, err)
		ctx := runCacheFor(t, c, time.Hour)
		require.True(t, c.WaitForCacheSync(ctx))
		time.Sleep(time.Minute + 3*time.Second)
		assert.Len(t, ctrlruntime.Waiting(c), 1)
		srv.served.Store(true)
		require.NoError(t, srv.Create(ctx, &definition{ObjectMeta: metav1.ObjectMeta{Name: "widgets." + widgetKind.Group}}))
		time.Sleep(time.Second)
		synctest.Wait()
		assert.Empty(t, ctrlruntime.Waiting(c))
		assert.True(t, informer.HasSynced())
		var widgets widgetList
		require.NoError(t, c.List(ctx, &widgets))
		assert.Len(t, widgets.Items, 1)
	})
}

// TestManagerWithKindsThatComeLater: controllers for kinds that the server does not have yet
// keep no others from working, and work when it has them.
func TestManagerWithKindsThatComeLater(t *testing.T) {
	srv := newKindServer(t)
	require.NoError(t, srv.Create(t.Context(), newWidget("a", 1), configMap("one", "settings", 0)))
	mgr, err := ctrl.NewManager(srv.config(), ctrl.Options{
		Scheme: withWidgets, NewCache: ctrlruntime.NewCache(), Logger: logr.Discard(),
		Cache:      cache.Options{ByObject: map[client.Object]cache.ByObject{&widget{}: {}}},
		Metrics:    metricsserver.Options{BindAddress: "0"},
		Controller: config.Controller{SkipNameValidation: new(true)},
	})
	require.NoError(t, err)
	require.NoError(t, mgr.GetFieldIndexer().IndexField(t.Context(), &widget{}, "size", func(client.Object) []string { return nil }))
	reconciled := make(chan string, 10)
	note := func(kind string) reconcile.Func {
		return func(_ context.Context, r reconcile.Request) (reconcile.Result, error) {
			reconciled <- kind + " " + r.Name
			return reconcile.Result{}, nil
		}
	}
	require.NoError(t, ctrl.NewControllerManagedBy(mgr).Named("maps").For(&corev1.ConfigMap{}).Owns(&widget{}).Complete(note("map")))
	require.NoError(t, ctrl.NewControllerManagedBy(mgr).Named("widgets").For(&widget{}).Complete(note("widget")))
	require.NoError(t, ctrl.NewControllerManagedBy(mgr).Named("metadata").For(metadataOf(widgetKind)).Complete(note("metadata of widget")))
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	var running sync.WaitGroup
	running.Go(func() { assert.NoError(t, mgr.Start(ctx)) })
	defer running.Wait()
	defer cancel()
	assert.Equal(t, "map settings", <-reconciled)
	srv.served.Store(true)
	assert.ElementsMatch(t, []string{"widget a", "metadata of widget a"}, []string{<-reconciled, <-reconciled})
}
