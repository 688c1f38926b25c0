package adapters_test

import (
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/tools/cache"
)

// widget is a kind of a test's own: metadata and nothing else, and no scheme.
type widget struct {
	metav1.ObjectMeta

	Size int
}

func (w *widget) GetObjectKind() schema.ObjectKind { return schema.EmptyObjectKind }

func (w *widget) DeepCopyObject() runtime.Object {
	c := &widget{Size: w.Size}
	w.DeepCopyInto(&c.ObjectMeta)
	return c
}

// gadget only refers to its metadata.
type gadget struct{ meta metav1.ObjectMeta }

func (g *gadget) GetObjectKind() schema.ObjectKind { return schema.EmptyObjectKind }
func (g *gadget) GetObjectMeta() metav1.Object     { return &g.meta }
func (g *gadget) DeepCopyObject() runtime.Object   { return &gadget{*g.meta.DeepCopy()} }

// gizmo is a value, no pointer.
type gizmo struct{ *metav1.ObjectMeta }

func (g gizmo) GetObjectKind() schema.ObjectKind { return schema.EmptyObjectKind }
func (g gizmo) DeepCopyObject() runtime.Object   { return gizmo{g.ObjectMeta.DeepCopy()} }

func thing(apiVersion, kind, name, version string) *unstructured.Unstructured {
	u := &unstructured.Unstructured{}
	u.SetAPIVersion(apiVersion)
	u.SetKind(kind)
	u.SetNamespace("ns")
	u.SetName(name)
	u.SetResourceVersion(version)
	return u
}

// Whatever has metadata can be informed about.
func TestContractKinds(t *testing.T) {
	named := func(name, version string) metav1.ObjectMeta {
		return metav1.ObjectMeta{Namespace: "ns", Name: name, ResourceVersion: version}
	}
	kinds := map[string]struct {
		example runtime.Object
		object  func(name, version string) runtime.Object
	}{
		"struct": {&corev1.ConfigMap{}, func(name, version string) runtime.Object {
			return &corev1.ConfigMap{ObjectMeta: named(name, version)}
		}},
		"unstructured": {&unstructured.Unstructured{}, func(name, version string) runtime.Object {
			return thing("example.com/v1", "Thing", name, version)
		}},
		"unstructured of a kind": {thing("example.com/v1", "Thing", "", ""), func(name, version string) runtime.Object {
			return thing("example.com/v1", "Thing", name, version)
		}},
		"metadata": {&metav1.PartialObjectMetadata{}, func(name, version string) runtime.Object {
			return &metav1.PartialObjectMetadata{ObjectMeta: named(name, version)}
		}},
		"embedded metadata": {&widget{}, func(name, version string) runtime.Object {
			return &widget{ObjectMeta: named(name, version)}
		}},
		"referred metadata": {&gadget{}, func(name, version string) runtime.Object {
			return &gadget{named(name, version)}
		}},
		"value": {gizmo{}, func(name, version string) runtime.Object {
			meta := named(name, version)
			return gizmo{&meta}
		}},
	}
	for name, kind := range kinds {
		t.Run(name, func(t *testing.T) {
			eachImplementation(t, func(t *testing.T, impl implementation) {
				s := &script{}
				s.answers(listOf("10", kind.object("a", "1"), kind.object("b", "2")))
				inf := impl.simple(s, kind.example, 0, cache.Indexers{cache.NamespaceIndex: cache.MetaNamespaceIndexFunc})
				rec := &recorder{}
				_, err := inf.AddEventHandler(rec)
				require.NoError(t, err)
				start(t, inf)
				assert.Equal(t, []string{"initial ns/a@1", "initial ns/b@2"}, rec.next())
				last := kind.object("a", "11")
				s.send(t, modified(last), deleted(kind.object("b", "12")), added(kind.object("c", "13")))
				objs := rec.objects()
				assert.Equal(t, []string{"update ns/a@1 ns/a@11", "delete ns/b@12", "add ns/c@13"}, rec.next())
				for _, obj := range objs {
					assert.IsType(t, kind.example, obj)
				}
				got, exists, err := inf.GetStore().GetByKey("ns/a")
				require.NoError(t, err)
				assert.True(t, exists)
				assert.Equal(t, last, got)
				found, err := inf.GetIndexer().ByIndex(cache.NamespaceIndex, "ns")
				require.NoError(t, err)
				assert.Equal(t, []string{"ns/a@11", "ns/c@13"}, describeAll(found))

				s.answers(listOf("20", kind.object("c", "13")))
				s.send(t, expired())
				s.awaitLists(2)
				assert.Equal(t, []string{"delete tombstone(ns/a ns/a@11)", "update ns/c@13 ns/c@13"}, rec.next())
				require.NoError(t, inf.GetStore().Add(kind.object("seeded", "30")))
				assert.Equal(t, []string{"ns/c@13", "ns/seeded@30"}, describeAll(inf.GetStore().List()))
			})
		})
	}
}

// An unstructured example may name the kind; watch events of others are dropped.
func TestContractUnstructuredKind(t *testing.T) {
	eachImplementation(t, func(t *testing.T, impl implementation) {
		s := &script{}
		s.answers(func(metav1.ListOptions) (runtime.Object, error) {
			list := &unstructured.UnstructuredList{}
			list.SetResourceVersion("10")
			list.Items = append(list.Items, *thing("example.com/v1", "Thing", "a", "1"))
			return list, nil
		})
		inf := impl.simple(s, thing("example.com/v1", "Thing", "", ""), 0, cache.Indexers{})
		rec := &recorder{}
		_, err := inf.AddEventHandler(rec)
		require.NoError(t, err)
		start(t, inf)
		assert.Equal(t, []string{"initial ns/a@1"}, rec.next())
		s.send(t, added(thing("example.com/v1", "Other", "b", "11")), added(thing("example.com/v2", "Thing", "c", "12")), added(thing("example.com/v1", "Thing", "d", "13")))
		assert.Equal(t, []string{"add ns/d@13"}, rec.next())
	})
}

// Tables are not objects: a list of them fails, and a watch drops them.
func TestContractTables(t *testing.T) {
	eachImplementation(t, func(t *testing.T, impl implementation) {
		s := &script{}
		s.answersOnce(func(metav1.ListOptions) (runtime.Object, error) {
			list := &unstructured.UnstructuredList{}
			list.SetAPIVersion("meta.k8s.io/v1")
			list.SetKind("Table")
			return list, nil
		})
		s.answers(listOf("10"))
		inf := impl.simple(s, &unstructured.Unstructured{}, 0, cache.Indexers{})
		var faults []error
		require.NoError(t, inf.SetWatchErrorHandler(func(_ *cache.Reflector, err error) { faults = append(faults, err) }))
		start(t, inf)
		s.awaitLists(2)
		require.Len(t, faults, 1)
		assert.ErrorContains(t, faults[0], "unsupported list gvk: meta.k8s.io/v1, Kind=Table")
		s.send(t, added(thing("meta.k8s.io/v1", "Table", "t", "11")), added(thing("example.com/v1", "Thing", "a", "12")))
		synctest.Wait()
		assert.Equal(t, []string{"ns/a@12"}, describeAll(inf.GetStore().List()))
	})
}
