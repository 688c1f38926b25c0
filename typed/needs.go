package typed

import (
	"fmt"

	"github.com/kubetyped/informer/index"
	"github.com/kubetyped/informer/typed/source"
)

// needer is an index or a handler that tells which fields of objects it reads, named as in
// JSON.
type needer interface{ Needs() []string }

// Needs returns the fields of objects that a handler is known to read, named as in JSON. An
// informer whose source leaves one out refuses the handler. It is for handlers that wrap
// another one, which then have this method.
func Needs[T index.Object](h Handler[T]) []string {
	if n, ok := h.(needer); ok {
		return n.Needs()
	}
	return nil
}

// Omits reports whether the informer's source is known to leave a field out of objects, named
// as in JSON ("metadata.labels"), so that who needs it can say so rather than find nothing.
func (i *Informer[T]) Omits(field string) bool { return source.Omits(i.source, field) }

// Omits reports whether a field is left out of objects, see Informer.Omits.
func (s *SharedInformer[T]) Omits(field string) bool { return s.informer.Load().Omits(field) }

// checkNeeds returns an error if the source leaves out what somebody needs.
func (i *Informer[T]) checkNeeds(fields []string) error {
	for _, field := range fields {
		if i.Omits(field) {
			return fmt.Errorf("it reads %s, which the informer's source leaves out; name the field in kube.WithFields, or leave it out of kube.WithoutFields", field)
		}
	}
	return nil
}
