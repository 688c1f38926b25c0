package source

import "github.com/kubetyped/informer/index"

// Partial is a Source whose objects do not have all fields, such as one of package kube with
// kube.WithFields. Map and FilterMap from a type to itself are, if what they project is.
// FromNamespaces and fleets are if a source is that they run, of which there are none before
// they run themselves: those that leave out what is needed, see Decoding, end with an error.
type Partial[T index.Object] interface {
	Source[T]
	// Omits reports whether a field, named as in JSON ("metadata.labels"), is left out of
	// the objects. It may be called at any time, by several goroutines.
	Omits(field string) bool
}

// Omits reports whether a source is known to leave a field out.
func Omits[T index.Object](src Source[T], field string) bool {
	partial, ok := src.(Partial[T])
	return ok && partial.Omits(field)
}
