package informers_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	appsv1beta1 "k8s.io/api/apps/v1beta1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"

	"github.com/kubetyped/informer/adapters"
	"github.com/kubetyped/informer/adapters/dynamicinformer"
	"github.com/kubetyped/informer/adapters/informers"
	"github.com/kubetyped/informer/adapters/metadatainformer"
	"github.com/kubetyped/informer/apitest"
	"github.com/kubetyped/informer/internal/test/rig"
	"github.com/kubetyped/informer/typed"
	"github.com/kubetyped/informer/typed/kube"
	"github.com/kubetyped/informer/typed/source"
)

var podResource = corev1.SchemeGroupVersion.WithResource("pods")

// factory is what the factories have in common.
type factory interface {
	Start(stopCh <-chan struct{})
	Shutdown()
}

// namespaced make factories that follow a set of namespaces, and their informers of Pods.
var namespaced = map[string]func(t *testing.T, config *rest.Config, set *source.Namespaces, deletions bool) (factory, informers.GenericInformer){
	"informers": func(t *testing.T, config *rest.Config, set *source.Namespaces, deletions bool) (factory, informers.GenericInformer) {
		return clientFactory(t, config, set, deletions)
	},
	"informers that deduplicate": func(t *testing.T, config *rest.Config, set *source.Namespaces, deletions bool) (factory, informers.GenericInformer) {
		return clientFactory(t, config, set, deletions, informers.WithDeduplication())
	},
	"informers that pack": func(t *testing.T, config *rest.Config, set *source.Namespaces, deletions bool) (factory, informers.GenericInformer) {
		return clientFactory(t, config, set, deletions, informers.WithPacked(&corev1.Pod{}))
	},
	"informers with a transform": func(t *testing.T, config *rest.Config, set *source.Namespaces, deletions bool) (factory, informers.GenericInformer) {
		calls := 0 // one at a time: or the race detector complains
		return clientFactory(t, config, set, deletions, informers.WithTransform(func(obj any) (any, error) { calls++; return obj, nil }))
	},
	"dynamic":             dynamicFactory(),
	"dynamic that packs":  dynamicFactory(dynamicinformer.WithPacked(podResource)),
	"metadata":            metadataFactory(),
	"metadata that packs": metadataFactory(metadatainformer.WithPacked()),
}

func dynamicFactory(more ...dynamicinformer.SharedInformerOption) func(t *testing.T, config *rest.Config, set *source.Namespaces, deletions bool) (factory, informers.GenericInformer) {
	return func(t *testing.T, config *rest.Config, set *source.Namespaces, deletions bool) (factory, informers.GenericInformer) {
		config.Wrap(kube.DecodingTransport)
		client, err := dynamic.NewForConfig(config)
		require.NoError(t, err)
		opts := append(more, dynamicinformer.WithNamespaces(set, podResource))
		if deletions {
			opts = append(opts, dynamicinformer.WithOutOfScopeDeletions())
		}
		f := dynamicinformer.NewDynamicSharedInformerFactoryWithOptions(client, 0, opts...)
		return f, f.ForResource(podResource)
	}
}

func metadataFactory(more ...metadatainformer.SharedInformerOption) func(t *testing.T, config *rest.Config, set *source.Namespaces, deletions bool) (factory, informers.GenericInformer) {
	return func(t *testing.T, config *rest.Config, set *source.Namespaces, deletions bool) (factory, informers.GenericInformer) {
		config.Wrap(kube.DecodingTransport)
		client, err := metadata.NewForConfig(config)
		require.NoError(t, err)
		opts := append(more, metadatainformer.WithNamespaces(set))
		if deletions {
			opts = append(opts, metadatainformer.WithOutOfScopeDeletions())
		}
		f := metadatainformer.NewSharedInformerFactoryWithOptions(client, 0, opts...)
		return f, f.ForResource(podResource)
	}
}

func clientFactory(t *testing.T, config *rest.Config, set *source.Namespaces, deletions bool, opts ...informers.SharedInformerOption) (factory, informers.GenericInformer) {
	client, err := kubernetes.NewForConfig(config)
	require.NoError(t, err)
	opts = append(opts, informers.WithNamespaces(set, &corev1.Pod{}))
	if deletions {
		opts = append(opts, informers.WithOutOfScopeDeletions())
	}
	f := informers.NewSharedInformerFactoryWithOptions(client, 0, opts...)
	generic, err := f.ForResource(podResource)
	require.NoError(t, err)
	return f, generic
}

// calls are those of a handler.
type calls struct {
	mu  sync.Mutex
	all []string // guarded by mu
}

func (c *calls) note(what string, obj any) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if deleted, ok := obj.(cache.DeletedFinalStateUnknown); ok {
		obj = deleted.Obj
	}
	c.all = append(c.all, what+" "+obj.(metav1.Object).GetName())
}

// next returns those since it was called last, sorted, when all goroutines wait.
func (c *calls) next() []string {
	synctest.Wait()
	c.mu.Lock()
	defer c.mu.Unlock()
	next := c.all
	c.all = nil
	slices.Sort(next)
	return next
}

func newCalls(t *testing.T, informer cache.SharedInformer) *calls {
	c := &calls{}
	_, err := informer.AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc:    func(obj any) { c.note("add", obj) },
		UpdateFunc: func(_, obj any) { c.note("update", obj) },
		DeleteFunc: func(obj any) { c.note("delete", obj) },
	})
	require.NoError(t, err)
	return c
}

// createPods creates Pods, one in each of the namespaces, with the namespace's name.
func createPods(t *testing.T, srv *apitest.Server, namespaces ...string) {
	for _, namespace := range namespaces {
		pod := rig.NewPod(namespace, "")
		pod.Namespace = namespace
		require.NoError(t, srv.Create(t.Context(), pod))
	}
}

var errRights = apierrors.NewForbidden(schema.GroupResource{Resource: "pods"}, "", errors.New("ask for more rights"))

// TestInformersOfNamespaces follows a set that changes: reads of namespaces that are not in it, or
// may not be listed, are errors; handlers get no deletions when one leaves it, unless they are
// asked for.
func TestInformersOfNamespaces(t *testing.T) {
	for name, newFactory := range namespaced {
		for _, deletions := range []bool{false, true} {
			t.Run(name, func(t *testing.T) {
				rig.InBubble(t, func(t *testing.T) {
					srv := apitest.Start(t)
					createPods(t, srv, "red", "blue", "green")
					forbidden := srv.Inject(apitest.Fault{Resource: "pods", Namespace: "blue", Err: errRights})
					set := source.NewNamespaces("red", "blue")
					factory, pods := newFactory(t, srv.Config(), set, deletions)
					handler := newCalls(t, pods.Informer())
					stop := make(chan struct{})
					factory.Start(stop)
					defer factory.Shutdown()
					defer close(stop)
					time.Sleep(time.Second)
					require.True(t, pods.Informer().HasSynced(), "it waits for no more than an answer")

					assert.Equal(t, []string{"add red"}, handler.next())
					checkReads(t, pods, map[string]error{"red": nil, "blue": source.ErrUnlisted, "green": source.ErrOutside})
					_, err := pods.Lister().ByNamespace("blue").Get("blue")
					assert.True(t, apierrors.IsForbidden(err))
					assert.ErrorContains(t, err, "namespace blue: not listed yet: try again later")
					informer, ok := adapters.AnyInformer(pods.Informer())
					require.True(t, ok)
					assert.ErrorContains(t, informer.Status().Err, "namespace blue: the informer does not wait for it")
					assert.NotEmpty(t, pods.Informer().LastSyncResourceVersion())

					forbidden.Remove()
					time.Sleep(time.Minute)
					assert.Equal(t, []string{"add blue"}, handler.next())
					assert.NoError(t, informer.Status().Err)
					checkReads(t, pods, map[string]error{"red": nil, "blue": nil, "green": source.ErrOutside})
					assert.Equal(t, strings.Contains(name, "that pack"), areKept(t, informer))

					require.NoError(t, set.Set("blue", "green"))
					want := []string{"add green"}
					if deletions {
						want = append(want, "delete red")
					}
					assert.Equal(t, want, handler.next())
					checkReads(t, pods, map[string]error{"red": source.ErrOutside, "blue": nil, "green": nil})
					require.NoError(t, set.Add("red"))
					assert.Equal(t, []string{"add red"}, handler.next())
					require.NoError(t, srv.Delete(t.Context(), &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "green", Name: "green"}}))
					assert.Contains(t, handler.next(), "delete green")
				})
			})
		}
	}
}

// areKept reports whether an informer keeps its objects as bytes, all or none.
func areKept(t *testing.T, informer typed.AnyInformer) bool {
	packed, all := informer.EstimateHeap(0).Packed.Objects, informer.Status().Objects
	require.Positive(t, all)
	require.Contains(t, []int{0, all}, packed)
	return packed == all
}

// checkReads reads a Pod of each namespace, and the namespace, by all ways, which want an error
// or none. A read of everything has those that can be read.
func checkReads(t *testing.T, pods informers.GenericInformer, want map[string]error) {
	t.Helper()
	indexer, readable := pods.Informer().GetIndexer(), 0
	for namespace, want := range want {
		example := &metav1.ObjectMeta{Namespace: namespace, Name: namespace}
		_, found, err := indexer.GetByKey(namespace + "/" + namespace)
		assert.ErrorIs(t, err, want)
		assert.Equal(t, want == nil, found)
		_, found, err = indexer.Get(&corev1.Pod{ObjectMeta: *example})
		assert.ErrorIs(t, err, want)
		assert.Equal(t, want == nil, found)
		_, err = indexer.ByIndex(cache.NamespaceIndex, namespace)
		assert.ErrorIs(t, err, want)
		_, err = indexer.Index(cache.NamespaceIndex, example)
		assert.ErrorIs(t, err, want)
		_, err = indexer.IndexKeys(cache.NamespaceIndex, namespace)
		assert.ErrorIs(t, err, want)
		listed, err := pods.Lister().ByNamespace(namespace).List(labels.Everything())
		assert.ErrorIs(t, err, want)
		_, err = pods.Lister().ByNamespace(namespace).Get("missing")
		assert.Equal(t, want == nil, apierrors.IsNotFound(err), "%v", err)
		if want == nil {
			readable++
			assert.Len(t, listed, 1)
		}
	}
	assert.Len(t, indexer.List(), readable)
	all, err := pods.Lister().List(labels.Everything())
	assert.NoError(t, err)
	assert.Len(t, all, readable)
}

// TestNamespacesWithOwnWrites: a write is read at once in each namespace.
func TestNamespacesWithOwnWrites(t *testing.T) {
	for name, opts := range map[string][]informers.SharedInformerOption{"whole": nil, "packed": {informers.WithPacked()}} {
		t.Run(name, func(t *testing.T) { readOwnWritesOfNamespaces(t, opts) })
	}
}

func readOwnWritesOfNamespaces(t *testing.T, opts []informers.SharedInformerOption) {
	rig.InBubble(t, func(t *testing.T) {
		srv := apitest.Start(t)
		writes := kube.NewWrites()
		client, err := kubernetes.NewForConfig(writes.Config(srv.Config()))
		require.NoError(t, err)
		set := source.NewNamespaces("red", "blue")
		factory := informers.NewSharedInformerFactoryWithOptions(client, time.Minute, append(opts, informers.WithNamespaces(set), informers.WithOwnWrites(writes))...)
		pods := factory.Core().V1().Pods()
		handler := newCalls(t, pods.Informer())
		stop := make(chan struct{})
		factory.Start(stop)
		defer factory.Shutdown()
		defer close(stop)
		factory.WaitForCacheSync(stop)
		srv.Inject(apitest.Fault{Lag: true})
		for _, namespace := range []string{"red", "blue"} {
			pod := rig.NewPod(namespace, "")
			pod.Namespace = namespace
			_, err := client.CoreV1().Pods(namespace).Create(t.Context(), pod, metav1.CreateOptions{})
			require.NoError(t, err)
			_, err = pods.Lister().Pods(namespace).Get(namespace)
			assert.NoError(t, err)
		}
		assert.Equal(t, []string{"add blue", "add red"}, handler.next())
		informer, ok := adapters.AnyInformer(pods.Informer())
		require.True(t, ok)
		assert.Zero(t, informer.Status().Rejected)
		assert.Equal(t, len(opts) > 0, areKept(t, informer))
		time.Sleep(90 * time.Second)
		assert.Equal(t, []string{"update blue", "update red"}, handler.next(), "a resync, once")
	})
}

// TestNamespacesOfFactoriesCheckTheirArguments: an informer that cannot follow the set says why,
// and reads return the error.
func TestNamespacesOfFactoriesCheckTheirArguments(t *testing.T) {
	set := source.NewNamespaces("red")
	pods := func(f informers.SharedInformerFactory) cache.SharedIndexInformer {
		return f.Core().V1().Pods().Informer()
	}
	for want, of := range map[string]struct {
		opts     []informers.SharedInformerOption
		informer func(informers.SharedInformerFactory) cache.SharedIndexInformer
	}{
		"WithNamespace and WithNamespaces exclude each other": {[]informers.SharedInformerOption{informers.WithNamespaces(set), informers.WithNamespace("red")}, pods},
		"set of namespaces is nil":                            {[]informers.SharedInformerOption{informers.WithNamespaces(nil)}, pods},
		`"A_b" cannot be the name of a namespace`:             {[]informers.SharedInformerOption{informers.WithNamespaces(source.NewNamespaces("A_b"))}, pods},
		"objects of type *v1.Node are in no namespace": {
			[]informers.SharedInformerOption{informers.WithNamespaces(set, &corev1.Node{})},
			func(f informers.SharedInformerFactory) cache.SharedIndexInformer {
				return f.Core().V1().Nodes().Informer()
			},
		},
		"*unstructured.Unstructured is no type of client-go's scheme": {
			[]informers.SharedInformerOption{informers.WithNamespaces(set, &unstructured.Unstructured{})}, pods,
		},
		"<nil> is no type of client-go's scheme": {[]informers.SharedInformerOption{informers.WithNamespaces(set, nil)}, pods},
		"alpha and beta kinds cannot follow": {
			[]informers.SharedInformerOption{informers.WithNamespaces(set)},
			func(f informers.SharedInformerFactory) cache.SharedIndexInformer {
				return f.Apps().V1beta1().Deployments().Informer()
			},
		},
	} {
		f := informers.NewSharedInformerFactoryWithOptions(nil, 0, of.opts...)
		informer := of.informer(f)
		standsOn, ok := adapters.AnyInformer(informer)
		require.True(t, ok, want)
		informer.RunWithContext(t.Context())
		assert.ErrorContains(t, standsOn.(interface{ WaitForSync(context.Context) error }).WaitForSync(t.Context()), want)
		_, _, err := informer.GetIndexer().GetByKey("red/a")
		assert.Error(t, err, want)
	}
	f := informers.NewSharedInformerFactoryWithOptions(nil, 0, informers.WithNamespaces(set))
	_, err := f.ForResource(schema.GroupVersionResource{Group: "apps", Version: "v1beta1", Resource: "deployments"})
	assert.ErrorContains(t, err, "alpha and beta kinds cannot follow")
	_, err = f.ForResource(corev1.SchemeGroupVersion.WithResource("nodes"))
	assert.NoError(t, err)
	_, err = informers.NewSharedInformerFactoryWithOptions(nil, 0, informers.WithNamespaces(set, &policyv1.PodDisruptionBudget{})).ForResource(
		schema.GroupVersionResource{Group: "apps", Version: "v1beta1", Resource: "deployments"})
	assert.NoError(t, err, "it follows no set")
	_, err = informers.NewSharedInformerFactoryWithOptions(nil, 0, informers.WithNamespaces(set, &appsv1beta1.Deployment{})).ForResource(
		schema.GroupVersionResource{Group: "apps", Version: "v1beta1", Resource: "deployments"})
	assert.ErrorContains(t, err, "alpha and beta kinds cannot follow")
}

// TestVersionOfObjectsWithoutOne: as for all namespaces, there is none.
func TestVersionOfObjectsWithoutOne(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client := fake.NewClientset()
		f := informers.NewSharedInformerFactoryWithOptions(client, 0, informers.WithNamespaces(source.NewNamespaces("ns")))
		defer f.Shutdown()
		pods := f.Core().V1().Pods().Informer()
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		f.Start(ctx.Done())
		synctest.Wait()
		require.True(t, pods.HasSynced())
		_, err := client.CoreV1().Pods("ns").Create(ctx, &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "a"}}, metav1.CreateOptions{})
		require.NoError(t, err)
		synctest.Wait()
		assert.Len(t, pods.GetStore().List(), 1)
		assert.Empty(t, pods.LastSyncResourceVersion())
	})
}
