package ctrlruntime_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
	"unsafe"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/rest"
	toolscache "k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubetyped/informer/adapters/ctrlruntime"
	"github.com/kubetyped/informer/apitest"
	"github.com/kubetyped/informer/typed/kube"
)

// objectMeta is of an object with all that options of caches are about.
func objectMeta(namespace, name, app string) metav1.ObjectMeta {
	return metav1.ObjectMeta{
		Namespace: namespace, Name: name, Labels: map[string]string{"app": app}, Annotations: map[string]string{"large": "and useless"},
		ManagedFields: []metav1.ManagedFieldsEntry{{Manager: "kubectl", Operation: metav1.ManagedFieldsOperationUpdate, FieldsType: "FieldsV1", FieldsV1: metav1.NewFieldsV1(`{"f:spec":{}}`)}},
	}
}

// objects returns a Pod, a Node and a custom resource of a name.
func objects(namespace, name, app string) []apitest.Object {
	node := objectMeta("", name, app)
	return []apitest.Object{
		&corev1.Pod{ObjectMeta: objectMeta(namespace, name, app), Spec: corev1.PodSpec{
			NodeName:    "n-" + name,
			Containers:  []corev1.Container{{Name: "server", Image: "shop:1"}},
			Tolerations: []corev1.Toleration{{Key: "spot", Operator: corev1.TolerationOpExists}},
		}},
		&corev1.Node{ObjectMeta: node},
		&widget{ObjectMeta: objectMeta(namespace, name, app), Spec: widgetSpec{7, map[string]string{"wheel": "round"}}},
	}
}

// write writes the objects of several namespaces, of which two match all options.
func write(t *testing.T, srv *apitest.Server) {
	t.Helper()
	for i, namespace := range []string{"one", "one", "two", "three"} {
		require.NoError(t, srv.Create(t.Context(), objects(namespace, fmt.Sprint("web-", i), []string{"shop", "db"}[i/3])...))
	}
}

// change writes what comes by watches, and after watches were cut and versions lost.
func change(t *testing.T, srv *apitest.Server, marker func(name string)) {
	t.Helper()
	for _, obj := range objects("one", "web-0", "shop") {
		obj.(metav1.Object).SetAnnotations(map[string]string{"changed": "yes"})
		require.NoError(t, srv.Update(t.Context(), obj))
	}
	require.NoError(t, srv.Delete(t.Context(), objects("one", "web-1", "shop")...))
	require.NoError(t, srv.Create(t.Context(), objects("one", "first", "shop")...))
	marker("first")
	for _, resource := range []string{"pods", "nodes", "widgets"} {
		srv.Inject(apitest.Fault{Resource: resource, Open: true, End: apitest.Torn})
	}
	require.NoError(t, srv.Create(t.Context(), objects("one", "second", "shop")...))
	marker("second")
	srv.Compact()
	for _, resource := range []string{"pods", "nodes", "widgets"} {
		srv.Inject(apitest.Fault{Resource: resource, Open: true, End: apitest.Clean})
	}
	require.NoError(t, srv.Create(t.Context(), objects("one", "third", "shop")...))
	marker("third")
}

// TestNewCacheIsControllerRuntimes: a cache with deduplication delivers and returns the same as
// controller-runtime's, in all forms of objects, formats and options.
func TestNewCacheIsControllerRuntimes(t *testing.T) {
	app := labels.SelectorFromSet(labels.Set{"app": "shop"})
	for name, o := range map[string]cache.Options{
		"all":            {},
		"namespaces":     {DefaultNamespaces: map[string]cache.Config{"one": {}, "two": {LabelSelector: app}}},
		"other ones":     {DefaultNamespaces: map[string]cache.Config{"": {}, "two": {LabelSelector: labels.Nothing()}}},
		"label selector": {DefaultLabelSelector: app},
		"field selector": {DefaultFieldSelector: fields.OneTermNotEqualSelector("metadata.name", "web-0")},
		"by object": {ByObject: map[client.Object]cache.ByObject{
			&corev1.Pod{}:              {Namespaces: map[string]cache.Config{"one": {}}},
			unstructuredOf(widgetKind): {Field: fields.OneTermEqualSelector("metadata.namespace", "one"), Label: app},
		}},
		"managed fields": {DefaultTransform: cache.TransformStripManagedFields()},
		"a transform": {DefaultTransform: func(obj any) (any, error) {
			obj.(client.Object).SetAnnotations(map[string]string{"transformed": "yes"})
			return obj, nil
		}},
		"no copies":    {DefaultUnsafeDisableDeepCopy: new(true)},
		"no bookmarks": {DefaultEnableWatchBookmarks: new(false)},
	} {
		for _, contentType := range []string{"", "application/json"} {
			for way, option := range map[string]ctrlruntime.CacheOption{"": ctrlruntime.WithDeduplication(), " packed": ctrlruntime.WithPacked()} {
				if way != "" && (o.DefaultTransform != nil || contentType != "" && name != "all") {
					continue
				}
				t.Run(name+" "+contentType+way, func(t *testing.T) {
					t.Parallel()
					var opts []apitest.Option
					if contentType != "" || o.DefaultEnableWatchBookmarks != nil { // the end of a streamed list is a bookmark
						opts = append(opts, apitest.WithoutWatchList())
					}
					srv := startWithWidgets(t, opts...)
					write(t, srv)
					config := srv.Config()
					config.ContentType, config.QPS = contentType, -1
					checkSame(t, srv, config, o, option)
				})
			}
		}
	}
}

// checkSame checks that the caches of controller-runtime and ours are the same.
func checkSame(t *testing.T, srv *apitest.Server, config *rest.Config, o cache.Options, option ctrlruntime.CacheOption) {
	t.Helper()
	markers := []string{"first", "second", "third"}
	theirs := startCache(t, cache.New, config, o, markers...)
	ours := startCache(t, ctrlruntime.NewCache(option), config, o, markers...)
	assert.Equal(t, theirs.lists(t), ours.lists(t), "kinds as in lists")
	change(t, srv, func(marker string) {
		theirs.await(t, marker)
		ours.await(t, marker)
	})
	want, got := theirs.all(), ours.all()
	assert.ElementsMatch(t, slices.Collect(maps.Keys(want)), slices.Collect(maps.Keys(got)))
	for what, obj := range want {
		assert.Equal(t, obj, got[what], what)
	}
	want, got = theirs.lists(t), ours.lists(t)
	for what, obj := range want {
		form, _, _ := strings.Cut(what, ":")
		withoutKind(form, obj)
		withoutKind(form, got[what])
	}
	assert.Equal(t, want, got)
}

// TestNewCacheShares: parts that objects have in common are one value; not so with a
// transform function, nor in controller-runtime's cache. The copies that are read are
// the reader's own.
func TestNewCacheShares(t *testing.T) {
	for name, test := range map[string]struct {
		newCache cache.NewCacheFunc
		options  cache.Options
		shared   bool
	}{
		"sharing":            {ctrlruntime.NewCache(ctrlruntime.WithDeduplication()), cache.Options{}, true},
		"in namespaces":      {ctrlruntime.NewCache(ctrlruntime.WithDeduplication()), cache.Options{DefaultNamespaces: map[string]cache.Config{"one": {}}}, true},
		"without the option": {ctrlruntime.NewCache(), cache.Options{}, false},
		"controller-runtime": {cache.New, cache.Options{}, false},
		"with a transform":   {ctrlruntime.NewCache(ctrlruntime.WithDeduplication()), cache.Options{DefaultTransform: func(obj any) (any, error) { return obj, nil }}, false},
		"without managed fields": {
			ctrlruntime.NewCache(ctrlruntime.WithDeduplication(), ctrlruntime.ForAllKinds(kube.WithoutFields("metadata.managedFields"))), cache.Options{}, true,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			srv := startWithWidgets(t)
			require.NoError(t, srv.Create(t.Context(), objects("one", "web-0", "shop")...))
			test.options.DefaultUnsafeDisableDeepCopy = new(true)
			w := startCache(t, test.newCache, srv.Config(), test.options, "web-1")
			require.NoError(t, srv.Create(t.Context(), objects("one", "web-1", "shop")...))
			w.await(t, "web-1")
			get := func(name string, obj client.Object) {
				require.NoError(t, w.Get(t.Context(), client.ObjectKey{Namespace: "one", Name: name}, obj))
			}
			var pods [2]corev1.Pod
			var widgets [2]widget
			var contents [2]*unstructured.Unstructured
			for i := range 2 {
				get(fmt.Sprint("web-", i), &pods[i])
				get(fmt.Sprint("web-", i), &widgets[i])
				contents[i] = unstructuredOf(widgetKind).(*unstructured.Unstructured)
				get(fmt.Sprint("web-", i), contents[i])
			}
			assert.Equal(t, test.shared, &pods[0].Spec.Tolerations[0] == &pods[1].Spec.Tolerations[0], "Pods")
			assert.Equal(t, test.shared, addressOf(widgets[0].Spec.Parts) == addressOf(widgets[1].Spec.Parts), "custom resources")
			assert.Equal(t, test.shared, addressOf(contents[0].Object["spec"]) == addressOf(contents[1].Object["spec"]), "unstructured ones")
		})
	}
}

// TestNewCacheDecodes: objects are decoded here without any option, so that they share strings.
func TestNewCacheDecodes(t *testing.T) {
	for name, options := range map[string]cache.Options{
		"plain":            {},
		"with a transform": {DefaultTransform: func(obj any) (any, error) { return obj, nil }},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			const pods = 100
			srv := startWithWidgets(t)
			last := ""
			for i := range pods {
				last = fmt.Sprint("web-", i)
				require.NoError(t, srv.Create(t.Context(), objects("one", last, "shop")...))
			}
			options.DefaultUnsafeDisableDeepCopy = new(true)
			w := startCache(t, ctrlruntime.NewCache(), srv.Config(), options, last)
			w.await(t, last)
			var all corev1.PodList
			require.NoError(t, w.List(t.Context(), &all))
			var widgets widgetList
			require.NoError(t, w.List(t.Context(), &widgets))
			images, owners := map[*byte]bool{}, map[*byte]bool{}
			for i := range all.Items {
				images[unsafe.StringData(all.Items[i].Spec.Containers[0].Image)] = true
			}
			for i := range widgets.Items {
				owners[unsafe.StringData(widgets.Items[i].Labels["app"])] = true
			}
			assert.Len(t, all.Items, pods)
			assert.Less(t, len(images), pods/2)
			assert.Len(t, widgets.Items, pods)
			assert.Less(t, len(owners), pods/2)
		})
	}
}

// addressOf returns where a map is.
func addressOf(of any) uintptr { return reflect.ValueOf(of).Pointer() }

// TestNewCacheReturnsCopies: a caller that modifies a result does not modify those of others.
func TestNewCacheReturnsCopies(t *testing.T) {
	srv := startWithWidgets(t)
	require.NoError(t, srv.Create(t.Context(), objects("one", "web-0", "shop")...))
	require.NoError(t, srv.Create(t.Context(), objects("one", "web-1", "shop")...))
	w := startCache(t, ctrlruntime.NewCache(ctrlruntime.WithDeduplication()), srv.Config(), cache.Options{})
	var pod corev1.Pod
	require.NoError(t, w.Get(t.Context(), client.ObjectKey{Namespace: "one", Name: "web-0"}, &pod))
	pod.Labels["app"], pod.Spec.Tolerations[0].Key = "modified", "modified"
	var pods corev1.PodList
	require.NoError(t, w.List(t.Context(), &pods))
	require.Len(t, pods.Items, 2)
	for _, pod := range pods.Items {
		assert.Equal(t, "shop", pod.Labels["app"])
		assert.Equal(t, "spot", pod.Spec.Tolerations[0].Key)
	}
}

// TestNewCacheWithFields: objects contain only the requested fields, in all forms and with each
// decoder.
func TestNewCacheWithFields(t *testing.T) {
	for name, transform := range map[string]func(any) (any, error){
		"shared":           nil,
		"with a transform": func(obj any) (any, error) { return obj, nil },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			srv := startWithWidgets(t)
			require.NoError(t, srv.Create(t.Context(), objects("one", "web-0", "shop")...))
			newCache := ctrlruntime.NewCache(ctrlruntime.WithDeduplication(),
				ctrlruntime.ForAllKinds(kube.WithoutFields("metadata.managedFields", "metadata.annotations")),
				ctrlruntime.ForKind(&corev1.Pod{}, kube.WithFields("spec.nodeName")),
			)
			w := startCache(t, newCache, srv.Config(), cache.Options{DefaultTransform: transform}, "web-1")
			require.NoError(t, srv.Create(t.Context(), objects("one", "web-1", "shop")...))
			w.await(t, "web-1")
			for what, obj := range w.all() {
				meta := obj.(client.Object)
				assert.Empty(t, meta.GetManagedFields(), what)
				assert.Empty(t, meta.GetAnnotations(), what)
				assert.NotEmpty(t, meta.GetUID(), what)
				switch obj := obj.(type) {
				case *corev1.Pod:
					assert.Equal(t, corev1.PodSpec{NodeName: "n-" + obj.Name}, obj.Spec)
					assert.Empty(t, obj.Labels)
				default:
					assert.Equal(t, map[string]string{"app": "shop"}, meta.GetLabels(), what)
				}
			}
		})
	}
}

// TestNewCacheReportsErrors: the program's error handler receives the errors of a server, as from
// controller-runtime's cache, and reads report that a kind is not cached.
func TestNewCacheReportsErrors(t *testing.T) {
	for name, newCache := range map[string]cache.NewCacheFunc{"controller-runtime": cache.New, "sharing": ctrlruntime.NewCache(ctrlruntime.WithDeduplication())} {
		t.Run(name, func(t *testing.T) {
			srv := startWithWidgets(t)
			refusal := srv.Inject(apitest.Fault{Resource: "pods", Err: apierrors.NewForbidden(corev1.Resource("pods"), "", errors.New("not yours"))})
			refused := make(chan error, 1)
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			made, err := newCache(srv.Config(), cache.Options{
				ReaderFailOnMissingInformer: true,
				DefaultWatchErrorHandler: func(_ context.Context, _ *toolscache.Reflector, err error) {
					select {
					case refused <- err:
					default:
					}
				},
			})
			require.NoError(t, err)
			_, err = made.GetInformer(ctx, &corev1.Pod{}, cache.BlockUntilSynced(false))
			require.NoError(t, err)
			var running sync.WaitGroup
			running.Go(func() { assert.NoError(t, made.Start(ctx)) })
			defer running.Wait()
			defer cancel()
			err = <-refused
			assert.True(t, apierrors.IsForbidden(err), err)
			assert.ErrorContains(t, err, "not yours")
			var notCached *cache.ErrResourceNotCached
			require.ErrorAs(t, made.Get(ctx, client.ObjectKey{Name: "a"}, &corev1.Node{}), &notCached)
			refusal.Remove()
			require.True(t, made.WaitForCacheSync(ctx))
		})
	}
}

// TestNewCacheOptions: the function of NewCache returns an error for an option that cannot be
// used, and changes no options of the program's.
func TestNewCacheOptions(t *testing.T) {
	config := &rest.Config{Host: "http://127.0.0.1:1"}
	o := cache.Options{}
	newInformer := func(toolscache.ListerWatcher, runtime.Object, time.Duration, toolscache.Indexers) toolscache.SharedIndexInformer {
		return nil
	}
	for want, err := range map[string]error{
		"NewInformer is set already": func() error {
			_, err := ctrlruntime.NewCache(ctrlruntime.WithDeduplication())(config, cache.Options{NewInformer: newInformer})
			return err
		}(),
		"configuration is nil": func() error {
			_, err := ctrlruntime.NewCache(ctrlruntime.WithDeduplication())(nil, o)
			return err
		}(),
	} {
		require.ErrorContains(t, err, want)
	}
	fields := kube.WithoutFields("metadata.managedFields")
	for want, opts := range map[string][]ctrlruntime.CacheOption{
		"option is nil":          {nil},
		"the example is nil":     {ctrlruntime.ForKind(nil, fields)},
		"source option is nil":   {ctrlruntime.ForKind(&corev1.Pod{}, nil)},
		"is named twice":         {ctrlruntime.ForKind(&corev1.Pod{}, fields), ctrlruntime.ForKind(&corev1.Pod{}, fields)},
		"no kind is registered":  {ctrlruntime.ForKind(&widget{}, fields)},
		"spec.nodeName":          {ctrlruntime.ForKind(&corev1.Pod{}, kube.WithFields("spec.nodName"))},
		"no field \"spec\"":      {ctrlruntime.ForAllKinds(kube.WithFields("spec.nodeName"))},
		"give one of them, once": {ctrlruntime.ForAllKinds(fields), ctrlruntime.ForAllKinds(fields)},
		"only WithFields":        {ctrlruntime.ForAllKinds(kube.WithNamespace("one"))},
	} {
		_, err := ctrlruntime.NewCache(opts...)(config, o)
		require.ErrorContains(t, err, want)
	}
	assert.Equal(t, cache.Options{}, o)
}

// TestErrorsOfByObject: an object of ByObject without a known kind is the error that
// controller-runtime's cache returns.
func TestErrorsOfByObject(t *testing.T) {
	srv := startWithWidgets(t)
	for name, obj := range map[string]client.Object{
		"of no scheme": &widget{}, "without a kind": &unstructured.Unstructured{}, "nil": nil,
	} {
		t.Run(name, func(t *testing.T) {
			o := cache.Options{ByObject: map[client.Object]cache.ByObject{obj: {}}}
			_, want := cache.New(srv.Config(), o)
			require.Error(t, want)
			_, err := ctrlruntime.NewCache()(srv.Config(), o)
			require.EqualError(t, err, want.Error())
		})
	}
}
