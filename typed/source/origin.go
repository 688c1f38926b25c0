package source

import (
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubetyped/informer/index"
)

// Origin is the place that a Source's objects come from, as far as the source knows. It
// distinguishes the names of informers of one kind, and names the resource in errors of
// listers.
type Origin struct {
	// Host is that of the API server, with its port and the path below which it
	// serves, such as "10.0.0.1:6443" or "clusters.example.com/c/east".
	Host string
	// Namespace is the one that the objects are in, "" if they are in any.
	Namespace string
	// Kind and Resource are what the objects are to the API server. One of them may
	// be zero, or both.
	Kind     schema.GroupVersionKind
	Resource schema.GroupVersionResource
	// Selection says in words which objects of that kind the source asks for, and what
	// of them, such as "labels app=web"; "" stands for all.
	Selection string
	// Slow is the reason why objects are decoded more slowly than others, for example in
	// JSON, because their type has a field that the API does not have; "" if they are not, or
	// it is unknown.
	Slow string
}

// Located is a Source that knows its Origin. Those of package kube are; so are Map and
// FilterMap of them, with the origin of the objects that are projected. FromNamespaces
// takes it from the sources of its namespaces, of which there are none before it runs.
type Located[T index.Object] interface {
	Source[T]
	// Origin may be called at any time, by several goroutines.
	Origin() Origin
}

// OriginOf returns the origin of a source, the zero Origin if it does not know it.
func OriginOf[T index.Object](src Source[T]) Origin {
	if located, ok := src.(Located[T]); ok {
		return located.Origin()
	}
	return Origin{}
}
