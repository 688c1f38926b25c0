package source

import (
	"fmt"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/kubetyped/informer/index"
)

// Opened contains the sources that another source runs, such as one for each namespace. It is
// Partial if one of them is. The zero Opened is empty. Its methods may be called by several
// goroutines.
type Opened[T index.Object] struct {
	mu    sync.Mutex
	all   []*Source[T] // guarded by mu
	added atomic.Uint64
}

// Add adds a source before it runs, and close removes it. Needs are those of Sink.Decoding,
// asked for after the source was added: so a needed field is either known here, or Omits
// reports that it is left out, even if both happen at the same time. Add returns an error if
// the source leaves out one of them, and has removed it then.
func (o *Opened[T]) Add(src Source[T], needs func() []string) (close func(), err error) {
	one := &src
	o.mu.Lock()
	o.all = append(o.all, one)
	o.added.Add(1)
	o.mu.Unlock()
	close = func() {
		o.mu.Lock()
		defer o.mu.Unlock()
		o.all = slices.DeleteFunc(o.all, func(other *Source[T]) bool { return other == one })
	}
	for _, field := range needs() {
		if Omits(src, field) {
			close()
			return nil, fmt.Errorf("source omits %s, which a handler or an index of the informer reads: add the field to kube.WithFields, or remove it from kube.WithoutFields", field)
		}
	}
	return close, nil
}

// Omits reports whether one of the sources is known to leave a field out.
func (o *Opened[T]) Omits(field string) bool {
	return slices.ContainsFunc(o.now(), func(src *Source[T]) bool { return Omits(*src, field) })
}

// DerivedFrom implements Derived: a source that opens others is derived from its Opened.
func (o *Opened[T]) DerivedFrom() (from []Derived) {
	for _, src := range o.now() {
		from = append(from, DerivedOf(*src)...)
	}
	return from
}

// Added returns how many sources were added until now, by which package view sees that
// DerivedFrom may return something else.
func (o *Opened[T]) Added() uint64 { return o.added.Load() }

// now returns the sources that are open.
func (o *Opened[T]) now() []*Source[T] {
	o.mu.Lock()
	defer o.mu.Unlock()
	return slices.Clone(o.all)
}
