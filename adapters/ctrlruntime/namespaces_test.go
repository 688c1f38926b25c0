package ctrlruntime_test

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime/schema"
	toolscache "k8s.io/client-go/tools/cache"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/kubetyped/informer/adapters/ctrlruntime"
	"github.com/kubetyped/informer/apitest"
	"github.com/kubetyped/informer/typed"
	"github.com/kubetyped/informer/typed/inspect"
	"github.com/kubetyped/informer/typed/kube"
	"github.com/kubetyped/informer/typed/source"
)

// podForms are Pods, and lists of them, in all forms.
var podForms = map[string]func() (client.Object, client.ObjectList){
	"typed": func() (client.Object, client.ObjectList) { return &corev1.Pod{}, &corev1.PodList{} },
	"unstructured": func() (client.Object, client.ObjectList) {
		list := &unstructured.UnstructuredList{}
		list.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("PodList"))
		return unstructuredOf(podKind), list
	},
	"metadata": func() (client.Object, client.ObjectList) {
		list := &metav1.PartialObjectMetadataList{}
		list.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("PodList"))
		return metadataOf(podKind), list
	},
}

// handled is what a handler was called with.
type handled struct {
	mu  sync.Mutex
	all []string // guarded by mu
}

func (h *handled) note(what string, obj any) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if deleted, ok := obj.(toolscache.DeletedFinalStateUnknown); ok {
		obj = deleted.Obj
	}
	h.all = append(h.all, what+" "+obj.(metav1.Object).GetNamespace())
}

// next returns the calls since the last next, sorted, when all goroutines wait.
func (h *handled) next() []string {
	synctest.Wait()
	h.mu.Lock()
	defer h.mu.Unlock()
	next := h.all
	h.all = nil
	slices.Sort(next)
	return next
}

func handle(t *testing.T, informer cache.Informer) *handled {
	h := &handled{}
	_, err := informer.AddEventHandler(toolscache.ResourceEventHandlerFuncs{
		AddFunc:    func(obj any) { h.note("add", obj) },
		DeleteFunc: func(obj any) { h.note("delete", obj) },
	})
	require.NoError(t, err)
	return h
}

// podsIn returns Pods, one in each namespace, on the node x.
func podsIn(namespaces ...string) (pods []apitest.Object) {
	for _, namespace := range namespaces {
		pods = append(pods, &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "a"}, Spec: corev1.PodSpec{NodeName: "x"}})
	}
	return pods
}

var errRights = apierrors.NewForbidden(schema.GroupResource{Resource: "pods"}, "", errors.New("ask for more rights"))

// TestWithNamespaces follows a set that changes, in each form of objects. A namespace that may not
// be listed keeps no cache from starting. Reads of one that is not in the set are errors, and
// controllers get no deletions when one leaves it, unless they are asked for. Cluster-scoped kinds
// and indexes are as without.
func TestWithNamespaces(t *testing.T) {
	for name, opts := range map[string][]ctrlruntime.CacheOption{
		"plain":         {ctrlruntime.Optional(&corev1.Pod{})},
		"deduplication": {ctrlruntime.WithDeduplication(), ctrlruntime.ForAllKinds(kube.WithoutFields("metadata.managedFields"))},
		"typed":         {ctrlruntime.Typed[*corev1.Pod]()},
		"deletions":     {ctrlruntime.WithOutOfScopeDeletions()},
	} {
		for form, newPod := range podForms {
			t.Run(name+" "+form, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) { testWithNamespaces(t, newPod, name == "deletions", opts) })
			})
		}
	}
}

func testWithNamespaces(t *testing.T, newPod func() (client.Object, client.ObjectList), deletions bool, opts []ctrlruntime.CacheOption) {
	srv := apitest.Start(t)
	require.NoError(t, srv.Create(t.Context(), podsIn("red", "blue", "green")...))
	require.NoError(t, srv.Create(t.Context(), &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "x"}}))
	forbidden := srv.Inject(apitest.Fault{Resource: "pods", Namespace: "blue", Err: errRights})
	set := source.NewNamespaces("red", "blue")
	c, err := ctrlruntime.NewCache(append(opts, ctrlruntime.WithNamespaces(set))...)(srv.Config(), cache.Options{})
	require.NoError(t, err)
	example, _ := newPod()
	informer, err := c.GetInformer(t.Context(), example, cache.BlockUntilSynced(false))
	require.NoError(t, err)
	if _, typed := example.(*corev1.Pod); typed {
		require.NoError(t, c.IndexField(t.Context(), example, "spec.nodeName", func(obj client.Object) []string {
			return []string{obj.(*corev1.Pod).Spec.NodeName}
		}))
	}
	handler := handle(t, informer)
	ctx := runCacheFor(t, c, time.Hour)
	require.True(t, c.WaitForCacheSync(ctx))
	assert.Empty(t, ctrlruntime.Waiting(c), "the kind is there")

	assert.Equal(t, []string{"add red"}, handler.next())
	checkNamespaces(t, c, newPod, map[string]error{"red": nil, "blue": source.ErrUnlisted, "green": source.ErrOutside})
	assert.NoError(t, c.Get(ctx, client.ObjectKey{Name: "x"}, &corev1.Node{}))
	forbidden.Remove()
	time.Sleep(time.Minute)
	assert.Equal(t, []string{"add blue"}, handler.next())
	checkNamespaces(t, c, newPod, map[string]error{"red": nil, "blue": nil, "green": source.ErrOutside})

	require.NoError(t, set.Set("blue", "green"))
	want := []string{"add green"}
	if deletions {
		want = append(want, "delete red")
	}
	assert.Equal(t, want, handler.next())
	checkNamespaces(t, c, newPod, map[string]error{"red": source.ErrOutside, "blue": nil, "green": nil})
	require.NoError(t, set.Add("red"))
	assert.Equal(t, []string{"add red"}, handler.next())
	require.NoError(t, srv.Create(ctx, &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "red", Name: "b"}}))
	assert.Equal(t, []string{"add red"}, handler.next())
}

// checkNamespaces reads a Pod of each namespace, and each namespace, which want an error or none.
// A list of everything has those that can be read.
func checkNamespaces(t *testing.T, c cache.Cache, newPod func() (client.Object, client.ObjectList), want map[string]error) {
	t.Helper()
	readable := 0
	for namespace, want := range want {
		pod, list := newPod()
		assert.ErrorIs(t, c.Get(t.Context(), client.ObjectKey{Namespace: namespace, Name: "a"}, pod), want)
		assert.Equal(t, want == nil, apierrors.IsNotFound(c.Get(t.Context(), client.ObjectKey{Namespace: namespace, Name: "missing"}, pod)))
		assert.ErrorIs(t, c.List(t.Context(), list, client.InNamespace(namespace)), want)
		if _, typed := pod.(*corev1.Pod); typed {
			assert.ErrorIs(t, c.List(t.Context(), list, client.InNamespace(namespace), client.MatchingFields{"spec.nodeName": "x"}), want)
		}
		if want == nil {
			readable++
			assert.Equal(t, 1, meta.LenList(list))
		}
	}
	pod, list := newPod()
	require.NoError(t, c.List(t.Context(), list))
	assert.Equal(t, readable, meta.LenList(list))
	if _, typed := pod.(*corev1.Pod); typed {
		require.NoError(t, c.List(t.Context(), list, client.MatchingFields{"spec.nodeName": "x"}))
		assert.Equal(t, readable, meta.LenList(list))
	}
}

// TestManagerOfNamespaces starts and reconciles though a namespace may not be listed, which its
// readiness check names, and does not fail for. A namespace that is added later is reconciled.
func TestManagerOfNamespaces(t *testing.T) {
	srv := apitest.Start(t)
	require.NoError(t, srv.Create(t.Context(), podsIn("red", "blue", "green")...))
	srv.Inject(apitest.Fault{Resource: "pods", Namespace: "blue", Err: errRights})
	set := source.NewNamespaces("red", "blue")
	mgr := newRecorder(t, srv.Config(), ctrlruntime.NewCache(ctrlruntime.WithNamespaces(set)))
	inspector, err := ctrlruntime.Inspect(mgr)
	require.NoError(t, err)
	reconciled := make(chan string, 10)
	require.NoError(t, ctrl.NewControllerManagedBy(mgr).Named("namespaces "+srv.URL).For(&corev1.Pod{}).Complete(
		reconcile.Func(func(ctx context.Context, r reconcile.Request) (reconcile.Result, error) {
			assert.NoError(t, mgr.GetClient().Get(ctx, r.NamespacedName, &corev1.Pod{}))
			reconciled <- r.Namespace
			return reconcile.Result{}, nil
		})))
	mgr.run(t)
	assert.Equal(t, "red", <-reconciled)
	require.NoError(t, set.Add("green"))
	assert.Equal(t, "green", <-reconciled)
	set.Remove("red")
	assert.NoError(t, mgr.ready())
	other := typed.NewInformer(source.FromNamespaces(set, func(string) source.Source[*corev1.Pod] { return nil }), typed.WithName("other"))
	require.NoError(t, inspector.Add(inspect.WithInformers(other)))
	assert.EqualError(t, mgr.ready(), "informer other was not started\n"+
		"Pod: namespace blue: the informer does not wait for it: failed to list *v1.Pod: pods is forbidden: ask for more rights")
	assert.Empty(t, reconciled, "no deletion")
}

// TestNamespacesOfAnOptionalKind: an answer 403 is about a namespace, not about the kind.
func TestNamespacesOfAnOptionalKind(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := apitest.Start(t)
		require.NoError(t, srv.Create(t.Context(), podsIn("red", "blue")...))
		srv.Inject(apitest.Fault{Resource: "pods", Namespace: "blue", Err: errRights})
		set := source.NewNamespaces("blue")
		c, err := ctrlruntime.NewCache(ctrlruntime.Optional(&corev1.Pod{}), ctrlruntime.WithNamespaces(set))(srv.Config(), cache.Options{})
		require.NoError(t, err)
		_, err = c.GetInformer(t.Context(), &corev1.Pod{}, cache.BlockUntilSynced(false))
		require.NoError(t, err)
		ctx := runCacheFor(t, c, time.Hour)
		require.True(t, c.WaitForCacheSync(ctx))
		assert.Empty(t, ctrlruntime.Waiting(c))
		assert.ErrorIs(t, c.Get(ctx, client.ObjectKey{Namespace: "blue", Name: "a"}, &corev1.Pod{}), source.ErrUnlisted)
		require.NoError(t, set.Add("red"))
		synctest.Wait()
		assert.NoError(t, c.Get(ctx, client.ObjectKey{Namespace: "red", Name: "a"}, &corev1.Pod{}))
	})
}

// TestNamespacesOfSomeKinds: other kinds are of all namespaces; and those that the set is for are
// typed informers.
func TestNamespacesOfSomeKinds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := startWithWidgets(t)
		require.NoError(t, srv.Create(t.Context(), podsIn("red", "green")...))
		require.NoError(t, srv.Create(t.Context(), &widget{ObjectMeta: metav1.ObjectMeta{Namespace: "green", Name: "a"}}))
		c, err := ctrlruntime.NewCache(ctrlruntime.Typed[*corev1.Pod](), ctrlruntime.WithNamespaces(source.NewNamespaces("red"), &corev1.Pod{}))(
			srv.Config(), cache.Options{Scheme: withWidgets, ByObject: map[client.Object]cache.ByObject{&widget{}: {Namespaces: map[string]cache.Config{"green": {}}}}})
		require.NoError(t, err)
		ctx := runCacheFor(t, c, time.Hour)
		require.True(t, c.WaitForCacheSync(ctx))
		assert.NoError(t, c.Get(ctx, client.ObjectKey{Namespace: "green", Name: "a"}, &widget{}))
		assert.ErrorIs(t, c.Get(ctx, client.ObjectKey{Namespace: "green", Name: "a"}, &corev1.Pod{}), source.ErrOutside)
		pods, err := ctrlruntime.Informer[*corev1.Pod](c)
		require.NoError(t, err)
		assert.Equal(t, 1, pods.Len())
		pods.Release()
	})
}

// TestNamespacesWithOwnWrites: a write is read at once, and the blocking client is refused.
func TestNamespacesWithOwnWrites(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := apitest.Start(t)
		writes := kube.NewWrites()
		c, err := ctrlruntime.NewCache(ctrlruntime.WithOwnWrites(writes), ctrlruntime.WithNamespaces(source.NewNamespaces("red", "blue")))(writes.Config(srv.Config()), cache.Options{})
		require.NoError(t, err)
		ctx := runCacheFor(t, c, time.Hour)
		own, err := client.New(writes.Config(srv.Config()), client.Options{Cache: &client.CacheOptions{Reader: c}})
		require.NoError(t, err)
		require.True(t, c.WaitForCacheSync(ctx))
		require.NoError(t, own.List(ctx, &corev1.PodList{}))
		srv.Inject(apitest.Fault{Lag: true})
		for _, pod := range podsIn("red", "blue") {
			require.NoError(t, own.Create(ctx, pod.(*corev1.Pod)))
			assert.NoError(t, own.Get(ctx, client.ObjectKeyFromObject(pod.(*corev1.Pod)), &corev1.Pod{}))
		}
		blocking, err := client.New(srv.Config(), client.Options{Cache: &client.CacheOptions{Reader: c, EnableReadYourWritesConsistency: new(true)}})
		require.NoError(t, err)
		assert.ErrorContains(t, blocking.Create(ctx, podsIn("green")[0].(*corev1.Pod)), "EnableReadYourWritesConsistency and WithNamespaces exclude each other")
	})
}

// TestNamespacesCheckTheirArguments at once.
func TestNamespacesCheckTheirArguments(t *testing.T) {
	srv := startWithWidgets(t)
	set := source.NewNamespaces("red")
	limited := map[string]cache.Config{"red": {}}
	inRed := fields.OneTermEqualSelector("metadata.namespace", "red")
	for want, of := range map[string]struct {
		opts  []ctrlruntime.CacheOption
		cache cache.Options
	}{
		"WithNamespaces: set is nil":                                      {opts: []ctrlruntime.CacheOption{ctrlruntime.WithNamespaces(nil)}},
		`WithNamespaces: "A_b" cannot be the name of a namespace`:         {opts: []ctrlruntime.CacheOption{ctrlruntime.WithNamespaces(source.NewNamespaces("x", "A_b"))}},
		"WithNamespaces: the option is there twice":                       {opts: []ctrlruntime.CacheOption{ctrlruntime.WithNamespaces(set), ctrlruntime.WithNamespaces(set)}},
		"WithNamespaces: example is nil":                                  {opts: []ctrlruntime.CacheOption{ctrlruntime.WithNamespaces(set, nil)}},
		"WithNamespaces: no kind is registered":                           {opts: []ctrlruntime.CacheOption{ctrlruntime.WithNamespaces(set, &widget{})}},
		"WithNamespaces: objects of type *v1.Node are in no namespace":    {opts: []ctrlruntime.CacheOption{ctrlruntime.WithNamespaces(set, &corev1.Node{})}},
		"WithOutOfScopeDeletions is for a cache with WithNamespaces":      {opts: []ctrlruntime.CacheOption{ctrlruntime.WithOutOfScopeDeletions()}},
		"WithNamespaces and DefaultNamespaces exclude each other":         {cache: cache.Options{DefaultNamespaces: limited}},
		"WithNamespaces and Namespaces of *v1.Pod in ByObject exclude":    {cache: cache.Options{ByObject: map[client.Object]cache.ByObject{&corev1.Pod{}: {Namespaces: limited}}}},
		`DefaultFieldSelector "metadata.namespace=red" selects`:           {cache: cache.Options{DefaultFieldSelector: inRed}},
		`field selector "metadata.namespace=red" of *v1.Pod in ByObject `: {cache: cache.Options{ByObject: map[client.Object]cache.ByObject{&corev1.Pod{}: {Field: inRed}}}},
	} {
		if of.opts == nil {
			of.opts = []ctrlruntime.CacheOption{ctrlruntime.WithNamespaces(set)}
		}
		_, err := ctrlruntime.NewCache(of.opts...)(srv.Config(), of.cache)
		assert.ErrorContains(t, err, want)
	}
}
