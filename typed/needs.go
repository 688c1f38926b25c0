package typed

import (
	"fmt"
	"slices"

	"github.com/kubetyped/informer/index"
	"github.com/kubetyped/informer/typed/source"
)

// needer is an index, a handler or a follower that reports which fields of objects it reads,
// named as in JSON.
type needer interface{ Needs() []string }

// Needs returns the fields of objects that a handler is known to read, named as in JSON. An
// informer whose source leaves one out refuses the handler, or ends with an error if that is
// known later. It is for handlers that wrap another one, which then have this method.
func Needs[T index.Object](h Handler[T]) []string { return needsOf(h) }

func needsOf(of any) []string {
	if n, ok := of.(needer); ok {
		return n.Needs()
	}
	return nil
}

// Omits reports whether the informer's source is known to leave a field out of objects, named
// as in JSON ("metadata.labels"), so that who needs it can say so rather than find nothing.
func (a *access[T]) Omits(field string) bool { return source.Omits(a.followed().source, field) }

// checkNeeds returns an error if the source leaves out one of the fields.
func (i *Informer[T]) checkNeeds(fields []string) error {
	for _, field := range fields {
		if i.Omits(field) {
			return fmt.Errorf("the informer's source omits %s: add the field to kube.WithFields, or remove it from kube.WithoutFields", field)
		}
	}
	return nil
}

// needs returns the fields that handlers, followers and indexes need now. It takes no lock, so
// that sources may ask at any time: a new reader is added first, and then checks whether its
// fields are left out.
func (i *Informer[T]) needs() (fields []string) {
	for _, l := range i.listeners.all() {
		fields = append(fields, Needs(l.handler)...)
	}
	for _, f := range i.followers.list.all() {
		fields = append(fields, needsOf(*f)...)
	}
	unlessReleased(func() {
		for _, x := range i.store.Indexes() {
			fields = append(fields, needsOf(x)...)
		}
	})
	slices.Sort(fields)
	return slices.Compact(fields)
}
