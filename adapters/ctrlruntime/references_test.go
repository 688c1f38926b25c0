package ctrlruntime_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/kubetyped/informer/adapters/ctrlruntime"
	"github.com/kubetyped/informer/apitest"
	"github.com/kubetyped/informer/typed/inspect"
	"github.com/kubetyped/informer/typed/kube"
	"github.com/kubetyped/informer/typed/reference"
	"github.com/kubetyped/informer/typed/source"
)

func secretKey(name string) client.ObjectKey { return client.ObjectKey{Namespace: "shop", Name: name} }

func newSecret(name, value string) *corev1.Secret {
	return &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: name, Labels: map[string]string{"v": value}},
		Data:       map[string][]byte{"v": []byte(value)},
	}
}

// referring is a server with a cache that has Secrets by reference.
type referring struct {
	*apitest.Server
	cache.Cache
	t   *testing.T
	ctx context.Context
}

// liveReads returns how many reads the informers of the cache count as requests.
func (r *referring) liveReads() (n uint64) {
	for _, informer := range r.Cache.(inspect.Factory).Informers() {
		n += informer.Status().Followed.LiveReads
	}
	return n
}

// refer runs a test in a bubble.
func refer(t *testing.T, opts []ctrlruntime.CacheOption, o cache.Options, test func(*testing.T, *referring)) {
	synctest.Test(t, func(t *testing.T) {
		srv := apitest.Start(t)
		require.NoError(t, srv.Create(t.Context(), newSecret("a", "1"), newSecret("b", "1"), newSecret("c", "1")))
		c, err := ctrlruntime.NewCache(opts...)(srv.Config(), o)
		require.NoError(t, err)
		r := &referring{Server: srv, Cache: c, t: t}
		err = c.Get(t.Context(), secretKey("a"), &corev1.Secret{})
		assert.ErrorAs(t, err, new(*cache.ErrCacheNotStarted))
		r.ctx = runCacheFor(t, c, 100*time.Hour)
		require.True(t, c.WaitForCacheSync(r.ctx))
		test(t, r)
	})
}

func (r *referring) value(name string) string {
	var secret corev1.Secret
	require.NoError(r.t, r.Get(r.ctx, secretKey(name), &secret))
	assert.Equal(r.t, "Secret", secret.Kind)
	value := string(secret.Data["v"])
	secret.Data["v"][0]++ // it is the caller's
	return value
}

func (r *referring) forbid(verbs ...string) (remove func()) {
	var faults []*apitest.Injection
	for _, verb := range verbs {
		faults = append(faults, r.Inject(apitest.Fault{Verb: verb, Resource: "secrets", Err: apierrors.NewForbidden(schema.GroupResource{Resource: "secrets"}, "", errors.New("ask for "+verb))}))
	}
	return func() {
		for _, fault := range faults {
			fault.Remove()
		}
	}
}

func (r *referring) requests() (all int) {
	for _, verb := range []string{"get", "list", "watch"} {
		all += r.Requests(verb, "secrets")
	}
	return all
}

// watches returns how many watches there are, after those that end now have begun again.
func (r *referring) watches() int {
	synctest.Wait()
	return r.Watches("secrets")
}

var bySecrets = []ctrlruntime.CacheOption{ctrlruntime.WithReferences[*corev1.Secret]()}

// TestWithReferences: what Get reads is followed, and nothing else is.
func TestWithReferences(t *testing.T) {
	for name, opts := range map[string][]ctrlruntime.CacheOption{
		"plain":         nil,
		"deduplication": {ctrlruntime.WithDeduplication(), ctrlruntime.ForAllKinds(kube.WithoutFields("metadata.managedFields"))},
		"namespaces":    {ctrlruntime.WithNamespaces(source.NewNamespaces("elsewhere"))},
	} {
		t.Run(name, func(t *testing.T) {
			refer(t, append(opts, bySecrets...), cache.Options{}, testWithReferences)
		})
	}
}

func testWithReferences(t *testing.T, r *referring) {
	before := r.Requests("get", "secrets")
	assert.Equal(t, "1", r.value("a"))
	assert.Equal(t, "1", r.value("a"))
	assert.True(t, apierrors.IsNotFound(r.Get(r.ctx, secretKey("missing"), &corev1.Secret{})))
	assert.Equal(t, 2, r.watches())

	require.NoError(t, r.Update(r.ctx, newSecret("a", "2")))
	require.NoError(t, r.Create(r.ctx, newSecret("missing", "3")))
	time.Sleep(time.Second)
	assert.Equal(t, "2", r.value("a"))
	assert.Equal(t, "3", r.value("missing"))
	metadata := &metav1.PartialObjectMetadata{}
	metadata.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("Secret"))
	require.NoError(t, r.Get(r.ctx, secretKey("a"), metadata))
	assert.Equal(t, map[string]string{"v": "2"}, metadata.Labels)
	assert.Equal(t, before, r.Requests("get", "secrets"))
	assert.ErrorContains(t, r.Get(r.ctx, client.ObjectKey{Name: "a"}, &corev1.Secret{}), "the key has no namespace")
	assert.Equal(t, 2, r.watches())

	require.NoError(t, r.Get(r.ctx, secretKey("a"), unstructuredOf(corev1.SchemeGroupVersion.WithKind("Secret"))))
	assert.Equal(t, before+1, r.Requests("get", "secrets"))
	_, err := r.GetInformer(r.ctx, unstructuredOf(corev1.SchemeGroupVersion.WithKind("Secret")))
	assert.ErrorContains(t, err, "watch it by its Go type")
	time.Sleep(50 * time.Hour)
	assert.Equal(t, 2, r.watches(), "they stay followed")
	require.NoError(t, r.RemoveInformer(r.ctx, &corev1.Secret{}))
	time.Sleep(time.Second)
	assert.Zero(t, r.watches())
}

// TestReferencesAreForgotten: a key that was absent for an hour without being read, and one that
// is idle for as long as the program says.
func TestReferencesAreForgotten(t *testing.T) {
	refer(t, bySecrets, cache.Options{}, func(t *testing.T, r *referring) {
		r.value("a")
		r.value("b")
		missing := func() {
			t.Helper()
			assert.True(t, apierrors.IsNotFound(r.Get(r.ctx, secretKey("missing"), &corev1.Secret{})))
		}
		missing()
		time.Sleep(50 * time.Minute)
		missing()
		require.NoError(t, r.Delete(r.ctx, newSecret("b", "")))
		time.Sleep(50 * time.Minute)
		assert.Equal(t, 3, r.watches())
		time.Sleep(11 * time.Minute)
		assert.Equal(t, 1, r.watches())
		missing()
		require.NoError(t, r.Create(r.ctx, newSecret("missing", "1")))
		time.Sleep(2 * time.Hour)
		assert.Equal(t, 2, r.watches(), "it has come meanwhile")
	})
	refer(t, []ctrlruntime.CacheOption{ctrlruntime.WithReferences[*corev1.Secret](reference.WithIdle(10 * time.Minute))}, cache.Options{}, func(t *testing.T, r *referring) {
		informer, err := r.GetInformer(r.ctx, &corev1.Secret{})
		require.NoError(t, err)
		events := handle(t, informer)
		r.value("a")
		assert.Equal(t, []string{"add shop"}, events.next())
		time.Sleep(11 * time.Minute)
		assert.Empty(t, events.next(), "it is not deleted")
		assert.Zero(t, r.watches())
		r.value("a")
		require.NoError(t, r.Delete(r.ctx, newSecret("a", "")))
		assert.Equal(t, []string{"add shop", "delete shop"}, events.next())
	})
}

// TestReferencesWithoutRights: with get alone, Get is a request each time, which stops
// asking for more, and the log says it once. Rights that are given later are found.
func TestReferencesWithoutRights(t *testing.T) {
	refer(t, bySecrets, cache.Options{}, func(t *testing.T, r *referring) {
		said := keepLog(t)
		r.value("c")
		allow := r.forbid("list", "watch")
		begun := time.Now()
		for n := range 5 {
			assert.Equal(t, "1", r.value("a"))
			require.NoError(t, r.Update(r.ctx, newSecret("b", fmt.Sprint(n))))
			assert.Equal(t, fmt.Sprint(n), r.value("b"))
		}
		assert.True(t, apierrors.IsNotFound(r.Get(r.ctx, secretKey("missing"), &corev1.Secret{})))
		assert.Less(t, time.Since(begun), 5*time.Second)
		assert.Len(t, said(), 1)
		time.Sleep(time.Second)
		gets, before := r.Requests("get", "secrets"), r.requests()
		r.value("a")
		time.Sleep(time.Second)
		assert.Equal(t, gets+1, r.Requests("get", "secrets"))
		assert.Equal(t, before+1, r.requests(), "it is not tried again to follow it")
		before = r.requests()
		time.Sleep(4 * time.Minute) // the watch of c continues
		assert.Equal(t, before, r.requests())

		r.forbid("get")
		assert.True(t, apierrors.IsForbidden(r.Get(r.ctx, secretKey("a"), &corev1.Secret{})))
		time.Sleep(20 * time.Minute) // the watch of c has ended
		assert.True(t, apierrors.IsForbidden(r.Get(r.ctx, secretKey("c"), &corev1.Secret{})), "it may not be read any more")
		allow()
		time.Sleep(time.Minute)
		assert.Equal(t, "1", r.value("c"), "it stayed in the cache")
		time.Sleep(10 * time.Minute)
		assert.Equal(t, "1", r.value("a"))
		assert.Equal(t, 2, r.watches())
	})
}

// TestReferencesBeyondTheLimit are requested, and the log says it once.
func TestReferencesBeyondTheLimit(t *testing.T) {
	refer(t, []ctrlruntime.CacheOption{ctrlruntime.WithReferences[*corev1.Secret](reference.WithLimit(2))}, cache.Options{}, func(t *testing.T, r *referring) {
		said := keepLog(t)
		for range 3 {
			for _, name := range []string{"a", "b", "c"} {
				assert.Equal(t, "1", r.value(name))
			}
		}
		assert.Equal(t, 2, r.watches())
		assert.Equal(t, 3, r.Requests("get", "secrets"))
		assert.EqualValues(t, 3, r.liveReads())
		assert.Len(t, said(), 1)
	})
}

// TestListOfReferences is a request, which the log says once, and does not use indexes.
func TestListOfReferences(t *testing.T) {
	refer(t, bySecrets, cache.Options{}, func(t *testing.T, r *referring) {
		said := keepLog(t)
		for range 2 {
			var list corev1.SecretList
			require.NoError(t, r.List(r.ctx, &list, client.InNamespace("shop"), client.MatchingLabels{"v": "1"}))
			assert.Len(t, list.Items, 3)
		}
		assert.Equal(t, 2, r.Requests("list", "secrets"))
		assert.Len(t, said(), 1)
		assert.Zero(t, r.watches())
		err := r.List(r.ctx, &corev1.SecretList{}, client.MatchingFields{"data.v": "1"})
		assert.ErrorContains(t, err, "which does not select by indexes of the cache")
		err = r.IndexField(r.ctx, &corev1.Secret{}, "data.v", func(client.Object) []string { return nil })
		assert.ErrorContains(t, err, "index Secret: the kind is cached by reference")
		assert.NotContains(t, err.Error(), "\n")
	})
}

// TestKindOfReferencesGoes: the answer 404 to a list is not one about the object.
func TestKindOfReferencesGoes(t *testing.T) {
	refer(t, bySecrets, cache.Options{}, func(t *testing.T, r *referring) {
		r.Inject(apitest.Fault{Resource: "secrets", Err: apierrors.NewNotFound(schema.GroupResource{Resource: "secrets"}, "")})
		err := r.Get(r.ctx, secretKey("a"), &corev1.Secret{})
		require.Error(t, err)
		assert.False(t, apierrors.IsNotFound(err))
	})
}

// TestReferencesFromCallbacks: a function that maps events may read, too.
func TestReferencesFromCallbacks(t *testing.T) {
	refer(t, bySecrets, cache.Options{}, func(t *testing.T, r *referring) {
		informer, err := r.GetInformer(r.ctx, &corev1.Secret{})
		require.NoError(t, err)
		read := make(chan error, 4)
		_, err = informer.AddEventHandler(handlerFunc(func(any) {
			for _, name := range []string{"a", "b"} {
				read <- r.Get(r.ctx, secretKey(name), &corev1.Secret{})
			}
		}))
		require.NoError(t, err)
		r.value("a")
		assert.NoError(t, <-read)
		assert.NoError(t, <-read)
		assert.Equal(t, 1, r.Requests("get", "secrets"))
	})
}

// TestManagerOfReferences reconciles a ConfigMap when the Secret that it reads appears, changes
// and vanishes, in both forms of events; no other Secret is watched.
func TestManagerOfReferences(t *testing.T) {
	for form, opts := range map[string][]builder.WatchesOption{"typed": nil, "metadata": {builder.OnlyMetadata}} {
		t.Run(form, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { testManagerOfReferences(t, opts) })
		})
	}
}

func testManagerOfReferences(t *testing.T, opts []builder.WatchesOption) {
	srv := apitest.Start(t)
	require.NoError(t, srv.Create(t.Context(), newSecret("other", "1"), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "tls"}}))
	mgr := newRecorder(t, srv.Config(), ctrlruntime.NewCache(bySecrets...))
	_, err := ctrlruntime.Inspect(mgr)
	require.NoError(t, err)
	seen := make(chan string, 100)
	require.NoError(t, ctrl.NewControllerManagedBy(mgr).Named("references "+srv.URL).For(&corev1.ConfigMap{}).
		Watches(&corev1.Secret{}, &handler.EnqueueRequestForObject{}, opts...).
		Complete(reconcile.Func(func(ctx context.Context, r reconcile.Request) (reconcile.Result, error) {
			var secret corev1.Secret
			switch err := mgr.GetClient().Get(ctx, r.NamespacedName, &secret); {
			case apierrors.IsNotFound(err):
				seen <- "missing"
			case err != nil:
				return reconcile.Result{}, err
			default:
				seen <- string(secret.Data["v"])
			}
			return reconcile.Result{}, nil
		})))
	stop := mgr.run(t)
	assert.Equal(t, "missing", <-seen)
	for _, step := range []func() error{
		func() error { return srv.Create(t.Context(), newSecret("tls", "1")) },
		func() error { return srv.Update(t.Context(), newSecret("tls", "2")) },
		func() error { return srv.Delete(t.Context(), newSecret("tls", "2")) },
	} {
		require.NoError(t, step())
	}
	last := ""
	for range 3 {
		synctest.Wait()
		for len(seen) > 0 {
			last = <-seen
		}
	}
	assert.Equal(t, "missing", last)
	require.NoError(t, srv.Create(t.Context(), newSecret("tls", "3")))
	assert.Equal(t, "3", <-seen)
	assert.Equal(t, 1, srv.Watches("secrets"))
	assert.NoError(t, mgr.ready())
	report := mgr.report(t)
	names := []string{}
	for _, informer := range report.Informers {
		names = append(names, informer.Name)
	}
	assert.Contains(t, names, "Secret (by reference)")
	stop()
}

// TestReferencesWithOwnWrites: what the program writes is read at once, though watches lag, and
// the blocking client is refused.
func TestReferencesWithOwnWrites(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := apitest.Start(t)
		writes := kube.NewWrites()
		c, err := ctrlruntime.NewCache(append(bySecrets, ctrlruntime.WithOwnWrites(writes))...)(writes.Config(srv.Config()), cache.Options{})
		require.NoError(t, err)
		ctx := runCacheFor(t, c, time.Hour)
		require.True(t, c.WaitForCacheSync(ctx))
		own, err := client.New(writes.Config(srv.Config()), client.Options{Cache: &client.CacheOptions{Reader: c}})
		require.NoError(t, err)
		assert.True(t, apierrors.IsNotFound(own.Get(ctx, secretKey("a"), &corev1.Secret{})))
		srv.Inject(apitest.Fault{Lag: true})
		require.NoError(t, own.Create(ctx, newSecret("a", "1")))
		assert.NoError(t, own.Get(ctx, secretKey("a"), &corev1.Secret{}))
		blocking, err := client.New(srv.Config(), client.Options{Cache: &client.CacheOptions{Reader: c, EnableReadYourWritesConsistency: new(true)}})
		require.NoError(t, err)
		assert.ErrorContains(t, blocking.Create(ctx, newSecret("b", "1")), "EnableReadYourWritesConsistency and WithReferences exclude each other")
	})
}

// TestReferencesTransform: transforms of the cache are called, and reads have copies.
func TestReferencesTransform(t *testing.T) {
	strip := func(obj any) (any, error) {
		obj.(*corev1.Secret).Labels = nil
		return obj, nil
	}
	o := cache.Options{ByObject: map[client.Object]cache.ByObject{&corev1.Secret{}: {Transform: strip}}}
	refer(t, bySecrets, o, func(t *testing.T, r *referring) {
		var secret corev1.Secret
		require.NoError(t, r.Get(r.ctx, secretKey("a"), &secret))
		assert.Nil(t, secret.Labels)
		assert.Equal(t, "1", r.value("a"))
		assert.Equal(t, "1", r.value("a"))
	})
}

// TestReferencesOfClusterScopedObjects are read with and without a namespace, as from every cache.
func TestReferencesOfClusterScopedObjects(t *testing.T) {
	refer(t, append(bySecrets, ctrlruntime.WithReferences[*corev1.Node]()), cache.Options{}, func(t *testing.T, r *referring) {
		require.NoError(t, r.Create(r.ctx, &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "x"}}))
		assert.NoError(t, r.Get(r.ctx, client.ObjectKey{Name: "x"}, &corev1.Node{}))
		assert.NoError(t, r.Get(r.ctx, client.ObjectKey{Namespace: "shop", Name: "x"}, &corev1.Node{}))
		assert.Equal(t, 1, r.Watches("nodes"))
	})
}

// TestReferencesCheckTheirArguments at once.
func TestReferencesCheckTheirArguments(t *testing.T) {
	srv := apitest.Start(t)
	secrets := ctrlruntime.WithReferences[*corev1.Secret]()
	selected := func(by cache.ByObject) cache.Options {
		return cache.Options{ByObject: map[client.Object]cache.ByObject{&corev1.Secret{}: by}}
	}
	for want, of := range map[string]struct {
		opts  []ctrlruntime.CacheOption
		cache cache.Options
	}{
		"the kind is named twice":                          {opts: []ctrlruntime.CacheOption{secrets, secrets}},
		"the type is one of Typed, too":                    {opts: []ctrlruntime.CacheOption{secrets, ctrlruntime.Typed[*corev1.Secret]()}},
		"the kind is one of WithNamespaces, too":           {opts: []ctrlruntime.CacheOption{ctrlruntime.WithNamespaces(source.NewNamespaces("x"), &corev1.Secret{}), secrets}},
		"the kind is one of WithPacked, too":               {opts: []ctrlruntime.CacheOption{ctrlruntime.WithPacked(&corev1.Secret{}), secrets}},
		"the kind is Optional, too":                        {opts: []ctrlruntime.CacheOption{secrets, ctrlruntime.Optional(&corev1.Secret{})}},
		"selects by DefaultLabelSelector":                  {opts: []ctrlruntime.CacheOption{secrets}, cache: cache.Options{DefaultLabelSelector: labels.SelectorFromSet(labels.Set{"a": "b"})}},
		"ByObject selects objects of the kind":             {opts: []ctrlruntime.CacheOption{secrets}, cache: selected(cache.ByObject{Label: labels.Everything()})},
		"option WithReferences[cacheapi.Object]":           {opts: []ctrlruntime.CacheOption{ctrlruntime.WithReferences[client.Object]()}},
		"objects of any kind can be of this type":          {opts: []ctrlruntime.CacheOption{ctrlruntime.WithReferences[*metav1.PartialObjectMetadata]()}},
		"WithIdle: the time is -1ns":                       {opts: []ctrlruntime.CacheOption{ctrlruntime.WithReferences[*corev1.Secret](reference.WithIdle(-1))}},
		"option WithReferences[*ctrlruntime_test.widget]:": {opts: []ctrlruntime.CacheOption{ctrlruntime.WithReferences[*widget]()}, cache: cache.Options{Scheme: withWidgets}},
	} {
		_, err := ctrlruntime.NewCache(of.opts...)(srv.Config(), of.cache)
		assert.ErrorContains(t, err, want, want)
	}
	_, err := ctrlruntime.NewCache(ctrlruntime.WithReferences[*widget]())(srv.Config(), cache.Options{Scheme: withWidgets})
	assert.True(t, meta.IsNoMatchError(err), "the server does not have the kind")
}

// handlerFunc is a handler of additions.
type handlerFunc func(obj any)

func (f handlerFunc) OnAdd(obj any, _ bool) { f(obj) }
func (f handlerFunc) OnUpdate(any, any)     {}
func (f handlerFunc) OnDelete(any)          {}
