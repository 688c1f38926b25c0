package apitest

import (
	"fmt"
	"sync/atomic"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubetyped/informer/apitest/internal/store"
)

// collection is one served resource: what it is and its objects. All but the
// table and private is set before the server starts.
type collection struct {
	resource    schema.GroupVersionResource
	kind        schema.GroupVersionKind
	listKind    schema.GroupVersionKind
	singular    string
	namespaced  bool
	status      bool // has a status subresource
	custom      bool // not of Kubernetes
	conditional bool // updates have to name a version
	creates     bool // updates create absent objects
	generation  bool // counts the changes of its content
	graceful    bool // objects are marked before they are deleted
	terminates  bool // objects are namespaces that are emptied before they are deleted
	protobuf    bool // objects can be spelled in it
	fields      map[string]FieldFunc
	scheme      *runtime.Scheme // nil: unstructured
	table       *store.Table
	managers    func() (*fieldManagers, error)
	stored      *collection // whose objects are in the table; nil: this one's
	convert     ConvertFunc // between the two
	private     atomic.Bool // objects have fields that are not exported

	subresources []subresource
}

func (c *collection) groupResource() schema.GroupResource { return c.resource.GroupResource() }

func (c *collection) unstructured() bool { return c.scheme == nil }

// newObject returns an empty object of the kind, without the kind set.
func (c *collection) newObject() runtime.Object {
	if c.unstructured() {
		return &unstructured.Unstructured{Object: map[string]any{}}
	}
	return must(c.scheme.New(c.kind))
}

func (c *collection) newList() runtime.Object {
	if c.unstructured() {
		return &unstructured.UnstructuredList{}
	}
	return must(c.scheme.New(c.listKind))
}

// metadataOf returns the metadata of an object of a collection.
func metadataOf(obj runtime.Object) metav1.Object { return must(meta.Accessor(obj)) }

// must returns a value, and panics with an error that cannot occur. Of a kind that is served,
// catalog.add has made an object and a list, and seen the object's metadata.
func must[T any](value T, err error) T {
	if err != nil {
		panic(fmt.Errorf("apitest: %w", err))
	}
	return value
}

// key returns the path of an object in the table.
func (c *collection) key(namespace, name string) string {
	if c.namespaced {
		return namespace + "/" + name
	}
	return name
}

// prefix returns what the keys of a namespace (all of them if empty) begin with.
func (c *collection) prefix(namespace string) string {
	if c.namespaced && namespace != "" {
		return namespace + "/"
	}
	return ""
}

// keyOf returns the path of a stored object.
func (c *collection) keyOf(obj runtime.Object) string {
	m := metadataOf(obj)
	return c.key(m.GetNamespace(), m.GetName())
}
