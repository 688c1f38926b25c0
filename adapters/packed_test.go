package adapters_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/dynamic"
	clientgodynamic "k8s.io/client-go/dynamic/dynamicinformer"
	clientgoinformers "k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes/fake"
	corev1listers "k8s.io/client-go/listers/core/v1"
	"k8s.io/client-go/metadata"
	clientgometadata "k8s.io/client-go/metadata/metadatainformer"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"

	"github.com/kubetyped/informer/adapters"
	"github.com/kubetyped/informer/adapters/dynamicinformer"
	"github.com/kubetyped/informer/adapters/informers"
	"github.com/kubetyped/informer/adapters/metadatainformer"
	"github.com/kubetyped/informer/apitest"
	"github.com/kubetyped/informer/index"
	"github.com/kubetyped/informer/internal/decode/kept"
	"github.com/kubetyped/informer/typed/kube"
	"github.com/kubetyped/informer/typed/observe"
)

// packedDropIns make informers of Pods that keep them as bytes, and client-go's.
var packedDropIns = map[string]struct {
	contentType  string
	ours, theirs func(t *testing.T, config *rest.Config) clientgoinformers.GenericInformer
}{
	"informers in protobuf": {runtime.ContentTypeProtobuf, packedFactory, clientGosFactory},
	"dynamicinformer": {"", func(t *testing.T, config *rest.Config) clientgoinformers.GenericInformer {
		client, err := dynamic.NewForConfig(config)
		require.NoError(t, err)
		return dynamicinformer.NewDynamicSharedInformerFactoryWithOptions(client, 0, dynamicinformer.WithPacked(podResource)).ForResource(podResource)
	}, func(t *testing.T, config *rest.Config) clientgoinformers.GenericInformer {
		client, err := dynamic.NewForConfig(config)
		require.NoError(t, err)
		return clientgodynamic.NewDynamicSharedInformerFactory(client, 0).ForResource(podResource)
	}},
	"metadatainformer": {"", func(t *testing.T, config *rest.Config) clientgoinformers.GenericInformer {
		client, err := metadata.NewForConfig(config)
		require.NoError(t, err)
		return metadatainformer.NewSharedInformerFactoryWithOptions(client, 0, metadatainformer.WithPacked(podResource)).ForResource(podResource)
	}, func(t *testing.T, config *rest.Config) clientgoinformers.GenericInformer {
		client, err := metadata.NewForConfig(config)
		require.NoError(t, err)
		return clientgometadata.NewSharedInformerFactory(client, 0).ForResource(podResource)
	}},
}

func packedFactory(t *testing.T, config *rest.Config) clientgoinformers.GenericInformer {
	generic, err := informers.NewSharedInformerFactoryWithOptions(clientsetOf(t, config), 0, informers.WithPacked(&corev1.Pod{})).ForResource(podResource)
	require.NoError(t, err)
	return generic
}

func clientGosFactory(t *testing.T, config *rest.Config) clientgoinformers.GenericInformer {
	generic, err := clientgoinformers.NewSharedInformerFactory(clientsetOf(t, config), 0).ForResource(podResource)
	require.NoError(t, err)
	return generic
}

// received are the objects that handlers were called with, by event.
type received struct {
	mu   sync.Mutex
	objs map[string]any // guarded by mu
}

func (s *received) note(what string, obj any) {
	o := obj.(runtime.Object)
	s.mu.Lock()
	defer s.mu.Unlock()
	meta := o.(metav1.Object)
	s.objs[fmt.Sprint(what, " ", meta.GetName(), " ", meta.GetResourceVersion())] = o.DeepCopyObject()
}

func (s *received) has(what string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	for key := range s.objs {
		if strings.HasPrefix(key, what+" ") {
			return true
		}
	}
	return false
}

// watchPacked adds a handler and an index to an informer, and starts it.
func watchPacked(t *testing.T, informer cache.SharedIndexInformer) *received {
	t.Helper()
	all := &received{objs: map[string]any{}}
	_, err := informer.AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc: func(obj any) { all.note("add", obj) },
		UpdateFunc: func(old, obj any) {
			all.note("old", old)
			all.note("update", obj)
		},
		DeleteFunc: func(obj any) { all.note("delete", obj) },
	})
	require.NoError(t, err)
	require.NoError(t, informer.AddIndexers(cache.Indexers{"app": func(obj any) ([]string, error) {
		return []string{obj.(metav1.Object).GetLabels()["app"]}, nil
	}}))
	startShared(t, informer)
	return all
}

// randomPod returns a Pod of one of a few applications, with fields that differ.
func randomPod(r *rand.Rand, i int) *corev1.Pod {
	pod := labelled(fmt.Sprintf("app%d-%d", i%5, i))
	pod.Namespace = []string{"one", "two"}[i%2]
	pod.Labels["app"] = fmt.Sprint("app-", r.IntN(4))
	pod.Annotations = map[string]string{"text": strings.Repeat(fmt.Sprint(r.Uint64()), r.IntN(20))}
	pod.Spec.NodeName = fmt.Sprint("node-", r.IntN(9))
	pod.Status.Phase = []corev1.PodPhase{corev1.PodPending, corev1.PodRunning}[r.IntN(2)]
	pod.Status.StartTime = &metav1.Time{Time: time.Unix(r.Int64N(1<<31), 0)}
	return pod
}

// TestPackedIsClientGos: after random writes, what a packed factory's informers, indexes, listers
// and handlers have is what client-go's have, field by field, with objects that are kept as bytes.
func TestPackedIsClientGos(t *testing.T) {
	t.Parallel()
	for name, of := range packedDropIns {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			srv := apitest.Start(t)
			config := srv.Config()
			config.QPS, config.ContentType = -1, of.contentType
			config.Wrap(kube.DecodingTransport)
			r := rand.New(rand.NewPCG(1, 2))
			for i := range 40 {
				require.NoError(t, srv.Create(t.Context(), randomPod(r, i)))
			}
			ours, theirs := of.ours(t, config), of.theirs(t, config)
			got, want := watchPacked(t, ours.Informer()), watchPacked(t, theirs.Informer())
			for range 300 {
				i := r.IntN(60)
				pod := randomPod(r, i)
				if err := srv.Update(t.Context(), pod); err != nil {
					require.NoError(t, srv.Create(t.Context(), pod))
				} else if r.IntN(4) == 0 {
					require.NoError(t, srv.Delete(t.Context(), pod))
				}
			}
			require.NoError(t, srv.Create(t.Context(), tolerant("two", "last")))
			require.Eventually(t, func() bool { return got.has("add last") && want.has("add last") }, time.Minute, time.Millisecond)
			requireKept(t, ours.Informer())
			requireCounted(t, ours.Informer())
			assert.Equal(t, want.objs, got.objs)
			sameReads(t, ours, theirs)
		})
	}
}

// requireKept fails unless the informer keeps all objects as bytes.
func requireKept(t *testing.T, informer cache.SharedInformer) {
	t.Helper()
	of, ok := adapters.AnyInformer(informer)
	require.True(t, ok)
	objs := of.(interface{ List() []metav1.Object }).List()
	require.NotEmpty(t, objs)
	for _, obj := range objs {
		require.IsType(t, (*kept.Object)(nil), obj)
	}
}

// requireCounted fails unless the estimate of the heap has all objects as bytes, and counts how often
// they are decoded.
func requireCounted(t *testing.T, informer cache.SharedInformer) {
	t.Helper()
	of, ok := adapters.AnyInformer(informer)
	require.True(t, ok)
	before := of.EstimateHeap(0).Packed
	assert.Equal(t, of.Status().Objects, before.Objects)
	assert.NotZero(t, before.Raw)
	assert.LessOrEqual(t, float64(before.Bytes), 2.5*float64(before.Raw), "few objects, which are unlike")
	assert.NotZero(t, before.Bases)
	emptyRing()
	read := len(informer.GetStore().List())
	after := of.EstimateHeap(10)
	assert.GreaterOrEqual(t, after.Packed.Decoded, before.Decoded+uint64(read))
	assert.Greater(t, after.Packed.Decoding, before.Decoding)
	assert.Greater(t, after.Bytes, before.Bytes, "objects take more than bytes")
}

// sameReads compares the reads of two informers.
func sameReads(t *testing.T, ours, theirs clientgoinformers.GenericInformer) {
	t.Helper()
	assert.Equal(t, objectsOf(t, theirs), objectsOf(t, ours))
	selector := labels.SelectorFromSet(labels.Set{"app": "app-1"})
	for _, namespace := range []string{"one", "two"} {
		got, err := ours.Lister().ByNamespace(namespace).List(selector)
		require.NoError(t, err)
		want, err := theirs.Lister().ByNamespace(namespace).List(selector)
		require.NoError(t, err)
		assert.ElementsMatch(t, want, got)
	}
	for key, want := range objectsOf(t, theirs) {
		got, exists, err := ours.Informer().GetStore().GetByKey(key)
		require.NoError(t, err)
		assert.True(t, exists, key)
		assert.Equal(t, want, got)
	}
	for _, value := range theirs.Informer().GetIndexer().ListIndexFuncValues("app") {
		got, err := ours.Informer().GetIndexer().ByIndex("app", value)
		require.NoError(t, err)
		want, err := theirs.Informer().GetIndexer().ByIndex("app", value)
		require.NoError(t, err)
		assert.ElementsMatch(t, want, got)
	}
	assert.ElementsMatch(t, theirs.Informer().GetIndexer().ListIndexFuncValues("app"), ours.Informer().GetIndexer().ListIndexFuncValues("app"))
}

// TestPackedModificationsEnd: what a handler does to an object is gone when it has left the ring.
func TestPackedModificationsEnd(t *testing.T) {
	t.Parallel()
	srv := apitest.Start(t)
	require.NoError(t, srv.Create(t.Context(), tolerant("shop", "modified")))
	informer := packedFactory(t, srv.Config()).Informer()
	called := make(chan struct{})
	_, err := informer.AddEventHandler(cache.ResourceEventHandlerFuncs{AddFunc: func(obj any) {
		obj.(*corev1.Pod).Spec.Containers[0].Image = "evil:1"
		close(called)
	}})
	require.NoError(t, err)
	startShared(t, informer)
	<-called
	assert.Equal(t, "evil:1", waitForPod(t, informer, "shop/modified", "").Spec.Containers[0].Image)
	emptyRing()
	assert.Equal(t, "shop:1", waitForPod(t, informer, "shop/modified", "").Spec.Containers[0].Image)
}

// TestPackedExcludes: an option that excludes bytes is an error that says so, when the informer is made
// or started; where client-go decodes, objects are whole, and that is reported once.
func TestPackedExcludes(t *testing.T) {
	pods := func(opts ...informers.SharedInformerOption) cache.SharedIndexInformer {
		return informers.NewSharedInformerFactoryWithOptions(fake.NewClientset(tolerant("shop", "a")), 0, opts...).Core().V1().Pods().Informer()
	}
	const excluded = "WithPacked and a transform exclude each other"
	informer := pods(informers.WithPacked())
	assert.ErrorContains(t, informer.SetTransform(same), excluded)
	assert.NoError(t, informer.SetTransform(nil))
	assert.ErrorContains(t, adapters.DetectMutations(packedSimple(&script{}, &corev1.Pod{}, 0, nil), time.Minute, func(observe.Mutation) {}), "kept as bytes (WithPacked)")
	said := reported.since()
	startShared(t, informer)
	assert.Equal(t, tolerant("shop", "a"), waitForPod(t, informer, "shop/a", ""))
	require.Len(t, said(), 1)
	assert.ErrorContains(t, said()[0], "is no client of client-go's clientset")

	assert.NoError(t, pods(informers.WithPacked(&corev1.Secret{})).SetTransform(same), "of another kind")
	assert.ErrorContains(t, pods(informers.WithPacked(), informers.WithPacked(&corev1.Secret{})).SetTransform(same), excluded, "all kinds stay packed")
	for want, opts := range map[string][]informers.SharedInformerOption{
		excluded: {informers.WithTransform(same), informers.WithPacked(&corev1.Pod{})},
		"*unstructured.Unstructured is no type of client-go's scheme": {informers.WithPacked(&unstructured.Unstructured{})},
	} {
		said := reported.since()
		pods(opts...).RunWithContext(t.Context())
		assert.ErrorContains(t, errors.Join(said()...), want)
	}
}

// TestPackedObjectsAreSelected: list options hold for packed informers of a dynamic factory, too.
func TestPackedObjectsAreSelected(t *testing.T) {
	srv := apitest.Start(t)
	require.NoError(t, srv.Create(t.Context(), tolerant("shop", "a"), tolerant("shop", "b")))
	config := srv.Config()
	config.Wrap(kube.DecodingTransport)
	client, err := dynamic.NewForConfig(config)
	require.NoError(t, err)
	informer := dynamicinformer.NewDynamicSharedInformerFactoryWithOptions(client, 0, dynamicinformer.WithPacked(podResource),
		dynamicinformer.WithTweakListOptions(func(options *metav1.ListOptions) { options.FieldSelector = "metadata.name=b" })).ForResource(podResource).Informer()
	startShared(t, informer)
	require.True(t, cache.WaitForCacheSync(t.Context().Done(), informer.HasSynced))
	assert.Equal(t, []string{"shop/b"}, informer.GetStore().ListKeys())
}

// TestPackedDamagedBytes: an object that cannot be decoded any more is an error of Get with its key,
// and that of a lister; the others leave it out, which is reported once.
func TestPackedDamagedBytes(t *testing.T) {
	var damaged atomic.Bool
	form := kept.NewForm(func(text []byte, like kept.Whole) (kept.Whole, error) {
		if damaged.Load() && bytes.Contains(text, []byte("bad")) {
			return nil, errors.New("damaged")
		}
		return decodePod(text, like)
	}, kept.Stamps{})
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, func(lw cache.ListerWatcher, options cache.SharedIndexInformerOptions) cache.SharedIndexInformer {
			return packedOf(lw, &corev1.Pod{}, options, form)
		})
		require.NoError(t, r.AddIndexers(cache.Indexers{cache.NamespaceIndex: cache.MetaNamespaceIndexFunc}))
		r.run()
		r.send(added(pod("bad", "11")), added(pod("good", "12")))
		emptyRing()
		damaged.Store(true)
		said := reported.since()
		rec := r.handle()
		synctest.Wait()
		const message = "decode ns/bad, which is kept as bytes: damaged"
		_, exists, err := r.GetStore().GetByKey("ns/bad")
		assert.False(t, exists)
		assert.EqualError(t, err, message)
		_, err = corev1listers.NewPodLister(r.GetIndexer()).Pods("ns").Get("bad")
		assert.EqualError(t, err, message)
		assert.Len(t, r.GetStore().List(), 1)
		found, err := r.GetIndexer().ByIndex(cache.NamespaceIndex, "ns")
		require.NoError(t, err)
		assert.Len(t, found, 1)
		assert.Equal(t, []string{"initial ns/good@12"}, rec.next())
		r.send(modified(pod("bad", "13")))
		assert.Equal(t, []string{"update ns/bad@13 ns/bad@13"}, rec.next(), "the new state is known")
		emptyRing()
		r.relist("20")
		assert.Contains(t, rec.next(), "delete tombstone(ns/bad)", "without an object")
		require.Len(t, said(), 2, "once for each state")
		assert.EqualError(t, said()[0], message)
	})
}

// TestPackedObjectsAreShown: JSON of an object that is kept as bytes, or that has no metadata, is that
// of the object.
func TestPackedObjectsAreShown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, func(lw cache.ListerWatcher, options cache.SharedIndexInformerOptions) cache.SharedIndexInformer {
			return packedWithOptions(lw, &corev1.Pod{}, options)
		})
		r.script.lists("10", pod("a", "1"))
		r.run()
		require.NoError(t, r.GetStore().Add(cache.DeletedFinalStateUnknown{Key: "ns/b", Obj: pod("b", "2")}))
		of, ok := adapters.AnyInformer(r)
		require.True(t, ok)
		for key, what := range map[string]string{"a": `"resourceVersion":"1"`, "b": `"Key":"ns/b"`} {
			obj, _, err := r.GetStore().GetByKey("ns/" + key)
			require.NoError(t, err)
			want, err := json.Marshal(obj)
			require.NoError(t, err)
			require.Contains(t, string(want), what)
			got, err := of.ObjectJSON(index.Key{Namespace: "ns", Name: key})
			require.NoError(t, err)
			assert.JSONEq(t, string(want), string(got))
		}
	})
}

// emptyRing makes the next read of each object decode it.
func emptyRing() {
	const more = 9 << 20 // than the ring has room for
	kept.NewForm(decodePod, kept.Stamps{}).Keep(&corev1.Pod{}, make([]byte, more), false, nil)
}
