package kube_test

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"

	"github.com/kubetyped/informer/apitest"
	"github.com/kubetyped/informer/index"
	"github.com/kubetyped/informer/internal/test/pods"
	"github.com/kubetyped/informer/internal/test/rig"
	"github.com/kubetyped/informer/typed"
	"github.com/kubetyped/informer/typed/kube"
	"github.com/kubetyped/informer/typed/observe"
)

// packedPodWithMetadata is a Pod as bytes, and its metadata.
type packedPodWithMetadata struct {
	metav1.ObjectMeta `json:"metadata"`
	kube.Packed[*corev1.Pod]
}

func (p *packedPodWithMetadata) GetName() string            { return p.ObjectMeta.Name }
func (p *packedPodWithMetadata) GetNamespace() string       { return p.ObjectMeta.Namespace }
func (p *packedPodWithMetadata) GetUID() types.UID          { return p.ObjectMeta.UID }
func (p *packedPodWithMetadata) GetResourceVersion() string { return p.ObjectMeta.ResourceVersion }
func (p *packedPodWithMetadata) GetDeletionTimestamp() *metav1.Time {
	return p.ObjectMeta.DeletionTimestamp
}

// packedOf is what is tested of packed objects.
type packedOf[O any] interface {
	index.Object
	Object() (O, error)
	GetUID() types.UID
	GetResourceVersion() string
	GetDeletionTimestamp() *metav1.Time
}

// objectOf is what is packed.
type objectOf interface {
	metav1.Object
	runtime.Object
}

// TestPacked: whatever the format, the way of lists and the type, Object gives what a source
// of the packed type reports, after lists, updates and deletions.
func TestPacked(t *testing.T) {
	t.Parallel()
	for _, format := range []string{runtime.ContentTypeProtobuf, runtime.ContentTypeJSON} {
		for _, opts := range [][]kube.SourceOption{{}, {kube.WithoutWatchList()}, {kube.WithTypeMeta(), kube.WithoutWatchList()}} {
			t.Run(fmt.Sprintf("%s/%d options", format, len(opts)), func(t *testing.T) {
				t.Parallel()
				opts := append(opts, kube.WithResource(podResource))
				testPacked[*kube.Packed[*corev1.Pod], *corev1.Pod](t, format, opts)
				testPacked[*packedPod, *corev1.Pod](t, format, opts)
				testPacked[*packedPodWithMetadata, *corev1.Pod](t, format, opts)
				testPacked[*kube.Packed[*unstructured.Unstructured], *unstructured.Unstructured](t, format, opts)
				testPacked[*kube.Packed[*metav1.PartialObjectMetadata], *metav1.PartialObjectMetadata](t, format, opts)
			})
		}
	}
}

func testPacked[P packedOf[O], O objectOf](t *testing.T, format string, opts []kube.SourceOption) {
	t.Helper()
	cluster := pods.Cluster{PerApp: 5, Namespaces: []string{"a", "b"}, Nodes: 3}
	srv := apitest.Start(t)
	now := map[int]*corev1.Pod{}
	put := func(i, version int) {
		pod := cluster.Pod(i, version)
		pod.ResourceVersion, pod.UID = "", ""
		if now[i] == nil {
			require.NoError(t, srv.Create(t.Context(), pod))
		} else {
			require.NoError(t, srv.Update(t.Context(), pod))
		}
		now[i] = pod
	}
	for i := range 20 {
		put(i, 1)
	}
	config := rest.CopyConfig(srv.Config())
	config.ContentType = format
	packed := mirrored(t, kube.FromREST[P](config, opts...))
	whole := mirrored(t, kube.FromREST[O](config, append(opts, kube.WithoutDeduplication())...))
	for i := range 20 {
		put(i, 2)
		put(i, 3)
	}
	for i := range 5 {
		require.NoError(t, srv.Delete(t.Context(), now[i]))
	}
	version := srv.ResourceVersion()
	packed.waitForVersion(t, version)
	whole.waitForVersion(t, version)
	require.Len(t, whole.all(), 15)
	require.Len(t, packed.all(), 15)
	for _, obj := range whole.all() {
		want, p := obj.(O), packed.get(t, index.KeyOf(obj)).(P)
		got, err := p.Object()
		require.NoError(t, err)
		assert.Equal(t, want, got)
		assert.Equal(t, want.GetUID(), p.GetUID())
		assert.Equal(t, want.GetResourceVersion(), p.GetResourceVersion())
		assert.Equal(t, want.GetDeletionTimestamp(), p.GetDeletionTimestamp())
		again, err := p.Object()
		require.NoError(t, err)
		assert.NotSame(t, any(got), any(again), "the caller's")
		if p, ok := any(p).(*packedPod); ok {
			assert.Equal(t, any(want).(*corev1.Pod).Spec.NodeName, p.Spec.NodeName)
		}
	}
}

// podOfKind declares the kind as fields. It embeds metadata, whose generated code for protobuf knows
// nothing of other fields.
type podOfKind struct {
	metav1.ObjectMeta `json:"metadata"`

	Kind       string `json:"kind"`
	APIVersion string `json:"apiVersion"`
	Spec       struct {
		NodeName string `json:"nodeName"`
	} `json:"spec"`
}

// TestPackedKinds: objects have the kind that the server sends with events, as those that are not
// packed.
func TestPackedKinds(t *testing.T) {
	t.Parallel()
	for _, format := range []string{runtime.ContentTypeProtobuf, runtime.ContentTypeJSON} {
		srv := apitest.Start(t)
		require.NoError(t, srv.Create(t.Context(), rig.NewPod("a", "node-1")))
		config := rest.CopyConfig(srv.Config())
		config.ContentType = format
		opts := []kube.SourceOption{kube.WithResource(podResource), kube.WithoutWatchList()}
		packed := mirrored(t, kube.FromREST[*kube.Packed[*podOfKind]](config, opts...))
		whole := mirrored(t, kube.FromREST[*podOfKind](config, opts...))
		for _, want := range []string{"", "Pod"} { // in a list and an event
			version := srv.ResourceVersion()
			packed.waitForVersion(t, version)
			whole.waitForVersion(t, version)
			key := index.Key{Namespace: "default", Name: "a"}
			got, err := packed.get(t, key).(*kube.Packed[*podOfKind]).Object()
			require.NoError(t, err)
			obj := whole.get(t, key).(*podOfKind)
			assert.Equal(t, want, obj.Kind)
			assert.Equal(t, obj, got, format)
			require.NoError(t, srv.Update(t.Context(), rig.NewPod("a", "node-2")))
		}
	}
}

// TestPackedBadInput: a type that cannot be packed is refused at the start, with the reason.
func TestPackedBadInput(t *testing.T) {
	t.Parallel()
	srv := apitest.Start(t)
	pod := kube.WithResource(podResource)
	for want, run := range map[string]func(context.Context) error{
		"WithFields and WithoutFields leave out what Packed keeps": func(ctx context.Context) error {
			return kube.FromREST[*packedPod](srv.Config(), pod, kube.WithFields("metadata.labels")).Run(ctx, nil)
		},
		"is a pointer to a Packed, and would stay nil": func(ctx context.Context) error {
			return kube.FromREST[*pointsAtPacked](srv.Config(), pod).Run(ctx, nil)
		},
		"is a Packed, and would stay empty": func(ctx context.Context) error {
			return kube.FromREST[*namesPacked](srv.Config(), pod).Run(ctx, nil)
		},
		"come without bytes: Packed is for FromREST": func(ctx context.Context) error {
			return kube.FromListerWatcher[*packedPod](&cache.ListWatch{}).Run(ctx, nil)
		},
		"the resource of *kube.Packed": func(ctx context.Context) error {
			return kube.FromREST[*kube.Packed[*unstructured.Unstructured]](srv.Config()).Run(ctx, nil)
		},
	} {
		assert.ErrorContains(t, run(t.Context()), want)
	}
	_, err := (&packedPod{}).Object()
	assert.ErrorContains(t, err, "Packed[*k8s.io/api/core/v1.Pod] has no bytes: it was not made by FromREST")
}

type pointsAtPacked struct {
	metav1.ObjectMeta `json:"metadata"`
	Whole             *kube.Packed[*corev1.Pod] `json:"-"`
}

type namesPacked struct {
	metav1.ObjectMeta `json:"metadata"`
	Whole             kube.Packed[*corev1.Pod] `json:"-"`
}

// TestPackedIsSmall: by the informer's own estimate, a packed Pod with one field takes less than a
// quarter of a deduplicated Pod, and the codec that all of them refer to is not counted.
func TestPackedIsSmall(t *testing.T) {
	t.Parallel()
	cluster := pods.Cluster{PerApp: 50, Namespaces: []string{"a", "b"}, Nodes: 20}
	srv := apitest.Start(t)
	for i := range 500 {
		pod := cluster.Pod(i, 1)
		pod.ResourceVersion, pod.UID = "", ""
		require.NoError(t, srv.Create(t.Context(), pod))
	}
	packed := typed.NewInformer(kube.FromREST[*packedPod](srv.Config(), kube.WithResource(podResource)))
	whole := typed.NewInformer(kube.FromREST[*corev1.Pod](srv.Config()))
	ctx, other := rig.Start(t, packed), rig.Start(t, whole)
	require.NoError(t, packed.WaitForSync(ctx))
	require.NoError(t, whole.WaitForSync(other))
	small, large := packed.EstimateHeap(500), whole.EstimateHeap(500)
	assert.Equal(t, 500, small.Sampled)
	t.Logf("%d bytes a Pod, deduplicated %d", small.Bytes/500, large.Bytes/500)
	assert.Less(t, small.Bytes, large.Bytes/4)
}

// TestPackedCounts: the informer's estimate has the number of packed objects, their bytes as they
// came, and each decoding; an informer of other objects has none of it.
func TestPackedCounts(t *testing.T) {
	t.Parallel()
	cluster := pods.Cluster{PerApp: 5, Namespaces: []string{"a"}, Nodes: 20}
	srv := apitest.Start(t)
	var raw int64
	for i := range 20 {
		pod := cluster.Pod(i, 1)
		pod.ResourceVersion, pod.UID = "", ""
		require.NoError(t, srv.Create(t.Context(), pod))
		raw += int64(pod.Size())
	}
	packed := typed.NewInformer(kube.FromREST[*packedPod](srv.Config(), kube.WithResource(podResource)))
	whole := typed.NewInformer(kube.FromREST[*corev1.Pod](srv.Config()))
	ctx, other := rig.Start(t, packed), rig.Start(t, whole)
	require.NoError(t, packed.WaitForSync(ctx))
	require.NoError(t, whole.WaitForSync(other))

	assert.Zero(t, whole.EstimateHeap(0))
	assert.Zero(t, whole.EstimateHeap(20).Packed)
	before := packed.EstimateHeap(0).Packed
	assert.Equal(t, 20, before.Objects)
	assert.Positive(t, before.Bases)
	assert.Greater(t, before.Raw, raw, "the server adds a UID and a version to each")
	assert.Less(t, before.Raw, raw+20*100)
	assert.Less(t, before.Bytes, before.Raw)
	assert.Zero(t, before.Decoded)
	for p := range packed.All() {
		_, err := p.Object()
		require.NoError(t, err)
	}
	after := packed.EstimateHeap(0).Packed
	assert.EqualValues(t, 20, after.Decoded)
	assert.Positive(t, after.Decoding)
	after.Decoded, after.Decoding = 0, 0
	assert.Equal(t, before, after)
}

// TestObjectReturnsErrors: what is wrong with a field that is not named is an error of Object that
// names the object, and holds up nothing.
func TestObjectReturnsErrors(t *testing.T) {
	t.Parallel()
	config := answering(t, `{"kind":"PodList","apiVersion":"v1","metadata":{"resourceVersion":"7"},"items":[
		{"metadata":{"namespace":"default","name":"right","resourceVersion":"3"},"spec":{"nodeName":"node-1"}},
		{"metadata":{"namespace":"default","name":"wrong","resourceVersion":"5"},"spec":{"nodeName":7}}]}`)
	pods := mirrored(t, kube.FromREST[*kube.Packed[*corev1.Pod]](config, kube.WithResource(podResource), kube.WithoutWatchList()))
	pods.waitForSync(t)
	require.Len(t, pods.all(), 2)
	for _, obj := range pods.all() {
		whole, err := obj.(*kube.Packed[*corev1.Pod]).Object()
		if obj.GetName() == "wrong" {
			assert.ErrorContains(t, err, "decode packed *v1.Pod default/wrong: ")
			assert.Nil(t, whole)
			continue
		}
		require.NoError(t, err)
		assert.Equal(t, "node-1", whole.Spec.NodeName)
	}
}

// TestPackedHasOwnWrites: a packed object is the answer to a write before the write returns.
func TestPackedHasOwnWrites(t *testing.T) {
	t.Parallel()
	for _, contentType := range []string{runtime.ContentTypeProtobuf, runtime.ContentTypeJSON} {
		w := newWriting(t, contentType)
		require.NoError(t, w.srv.Create(t.Context(), rig.NewPod("pod", "node-1")))
		informer := follow(w, kube.FromREST[*packedPod](w.config, kube.WithResource(podResource), kube.WithWrites(w.writes)))
		key := index.Key{Namespace: "default", Name: "pod"}
		packed, ok := informer.Get(key)
		require.True(t, ok)
		pod, err := packed.Object()
		require.NoError(t, err)
		pod.Labels = map[string]string{"color": "red"}
		written, err := w.client.CoreV1().Pods(pod.Namespace).Update(t.Context(), pod, metav1.UpdateOptions{})
		require.NoError(t, err)
		packed, _ = informer.Get(key)
		require.Equal(t, written.ResourceVersion, packed.GetResourceVersion())
		pod, err = packed.Object()
		require.NoError(t, err)
		assert.Equal(t, "red", pod.Labels["color"])
	}
}

// packedNetwork names a field that an object may have in another form.
type packedNetwork struct {
	kube.Packed[*unstructured.Unstructured]
	Spec struct {
		CIDR string `json:"cidr"`
	} `json:"spec"`
}

// TestRejectedPackedObjects: an object whose named field cannot be decoded is rejected, wherever it
// stands in a list, and the others have their kind.
func TestRejectedPackedObjects(t *testing.T) {
	t.Parallel()
	srv := apitest.Start(t, apitest.WithResources(apitest.Resource{GroupVersionResource: networkResource, Kind: "Network"}))
	for _, name := range []string{"a-wrong", "z-wrong"} {
		require.NoError(t, srv.Create(t.Context(), &unstructured.Unstructured{Object: map[string]any{
			"apiVersion": "example.com/v1", "kind": "Network", "metadata": map[string]any{"namespace": "default", "name": name},
			"spec": map[string]any{"cidr": int64(7)},
		}}))
	}
	require.NoError(t, srv.Create(t.Context(), newNetwork("right", "10.0.0.0/8")))
	for _, opts := range [][]kube.SourceOption{{}, {kube.WithoutWatchList()}} {
		networks := mirrored(t, kube.FromREST[*packedNetwork](srv.Config(), append(opts, kube.WithResource(networkResource))...))
		networks.waitForSync(t)
		require.Len(t, networks.all(), 1)
		require.Error(t, networks.rejection(index.Key{Namespace: "default", Name: "a-wrong"}))
		for _, obj := range networks.all() {
			network := obj.(*packedNetwork)
			assert.Equal(t, "10.0.0.0/8", network.Spec.CIDR)
			whole, err := network.Object()
			require.NoError(t, err)
			assert.Equal(t, "Network", whole.GetKind())
		}
	}
}

// TestMutationsOfPackedObjects: mutation detection looks at the fields of packed objects, and not at
// the codec that all of them refer to.
func TestMutationsOfPackedObjects(t *testing.T) {
	t.Parallel()
	rig.InBubble(t, func(t *testing.T) {
		srv := apitest.Start(t)
		cluster := pods.Cluster{PerApp: 5, Namespaces: []string{"a"}, Nodes: 3}
		create := func(from, to int) {
			for i := from; i < to; i++ {
				pod := cluster.Pod(i, 1)
				pod.ResourceVersion, pod.UID = "", ""
				require.NoError(t, srv.Create(t.Context(), pod))
			}
		}
		create(0, 20)
		var mu sync.Mutex
		var found []string
		informer := typed.NewInformer(kube.FromREST[*packedPod](srv.Config(), kube.WithResource(podResource)),
			observe.WithMutationDetection(time.Minute, func(m observe.Mutation) {
				mu.Lock()
				defer mu.Unlock()
				found = append(found, m.Key.Name)
			}))
		ctx, cancel := context.WithCancel(context.Background())
		var running sync.WaitGroup
		running.Go(func() { assert.NoError(t, informer.Run(ctx)) })
		defer running.Wait()
		defer cancel()
		require.NoError(t, informer.WaitForSync(ctx))
		create(20, 40) // the codec has more bases then
		time.Sleep(150 * time.Second)
		synctest.Wait()
		pod, ok := informer.Get(index.KeyOf(cluster.Pod(0, 1)))
		require.True(t, ok)
		pod.Spec.NodeName = "modified"
		create(40, 41) // so that the write surely happens before the next comparison
		time.Sleep(3 * time.Minute)
		synctest.Wait()
		mu.Lock()
		defer mu.Unlock()
		assert.Equal(t, []string{pod.Name}, found)
	})
}

// TestPatchPackedObjects: a patch has what differs in the named fields, and nothing else of the
// object is lost.
func TestPatchPackedObjects(t *testing.T) {
	t.Parallel()
	srv := apitest.Start(t, apitest.WithResources(apitest.Resource{GroupVersionResource: networkResource, Kind: "Network"}))
	network := newNetwork("a", "10.0.0.0/8")
	network.SetLabels(map[string]string{"color": "red"})
	require.NoError(t, srv.Create(t.Context(), network))
	resource := kube.WithResource(networkResource)
	networks := mirrored(t, kube.FromREST[*packedNetwork](srv.Config(), resource))
	networks.waitForSync(t)
	writer, err := kube.NewWriter[*packedNetwork](srv.Config(), resource)
	require.NoError(t, err)
	was := networks.get(t, index.KeyOf(network)).(*packedNetwork)
	updated := kube.Copy(was)
	updated.Spec.CIDR = "10.1.0.0/16"
	answer, err := writer.MergePatch(t.Context(), was, updated, metav1.PatchOptions{})
	require.NoError(t, err)
	assert.Equal(t, "10.0.0.0/8", was.Spec.CIDR)
	assert.Equal(t, "10.1.0.0/16", answer.Spec.CIDR)
	whole, err := answer.Object()
	require.NoError(t, err)
	assert.Equal(t, map[string]string{"color": "red"}, whole.GetLabels())
}
