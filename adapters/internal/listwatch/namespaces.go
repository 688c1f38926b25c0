package listwatch

import (
	"errors"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"

	"github.com/kubetyped/informer/typed/source"
)

// Namespaces is a ListerWatcher whose informer lists and watches each namespace of a set.
type Namespaces struct {
	Set *source.Namespaces
	// In returns what lists and watches a namespace.
	In func(namespace string) cache.ListerWatcher
	// OutOfScope reports to handlers the deletions of a namespace that leaves the set.
	OutOfScope bool
	// NamespaceOf returns the namespace that a value of an index, other than that of
	// namespaces, is limited to, "" if it is to none; nil: none is.
	NamespaceOf func(index, value string) string
	// Refuse returns an error for a handler that must not be added; nil: there is none.
	Refuse func(handler any) error
	// Packed has the informer keep objects as bytes: In returns a *Packing, or a Writing of one.
	Packed bool
	// Err is why the informer cannot run; nil: it can.
	Err error
}

// InNamespaces returns what lists and watches the namespaces of a set, those by a function, if
// there is a set; and otherwise what the function returns for one namespace.
func InNamespaces(set *Namespaces, namespace string, in func(namespace string) cache.ListerWatcher) cache.ListerWatcher {
	if set == nil {
		return in(namespace)
	}
	own := *set
	own.In = in
	if own.Err == nil && namespace != "" {
		own.Err = errors.New("WithNamespace and WithNamespaces exclude each other: use one of the two")
	}
	return &own
}

var errEach = errors.New("namespaces are listed one by one")

// List implements cache.Lister. It is not called.
func (*Namespaces) List(metav1.ListOptions) (runtime.Object, error) { return nil, errEach }

// Watch implements cache.Watcher. It is not called.
func (*Namespaces) Watch(metav1.ListOptions) (watch.Interface, error) { return nil, errEach }
