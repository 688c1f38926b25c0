package reference

import (
	"context"
	"errors"
	"slices"

	utilruntime "k8s.io/apimachinery/pkg/util/runtime"

	"github.com/kubetyped/informer/index"
	"github.com/kubetyped/informer/typed"
)

// From holds the keys that the objects of another informer, the parents, name, as long as they
// are in that informer:
//
//	err := reference.From(secrets, ingresses, func(i *networkingv1.Ingress) (keys []index.Key) {
//		for _, tls := range i.Spec.TLS {
//			keys = append(keys, index.Key{Namespace: i.Namespace, Name: tls.SecretName})
//		}
//		return keys
//	})
//
// The keys of a parent that is deleted, or leaves for another reason, are released. Parents of
// several calls are other owners, even if their keys are equal, and so are those of Hold.
//
// Keys that cannot be held are reported by utilruntime.HandleError, and by Status.Unheld. The
// parent holds its others. Those beyond the limit are held when there is room again.
//
// The function must not modify the object. From returns an error if an argument is nil, if the
// source cannot be used, or as typed.Informer.Handle does.
func From[P, T index.Object](s *Source[index.Key, T], parents *typed.Informer[P], of func(P) []index.Key) error {
	if err := checkParents(s, parents, of); err != nil {
		return err
	}
	_, err := parents.Handle(&referrers[P, T]{source: s, of: of, room: s.rooms.Add(1)})
	return err
}

// checkParents returns an error if From or EnqueueReferrers cannot use its arguments.
func checkParents[O comparable, P, T index.Object](s *Source[O, T], parents *typed.Informer[P], of func(P) []index.Key) error {
	switch {
	case s == nil:
		return errors.New("references: source is nil")
	case s.err != nil:
		return s.err
	case parents == nil:
		return errors.New("references: informer of parents is nil")
	case of == nil:
		return errors.New("references: the function that names objects is nil")
	}
	return nil
}

// referrers is the handler of From.
type referrers[P, T index.Object] struct {
	source *Source[index.Key, T]
	of     func(P) []index.Key
	room   int64
}

// Describe implements typed.Described.
func (h *referrers[P, T]) Describe() (string, error) { return "references", nil }

// OnAdd implements typed.Handler.
func (h *referrers[P, T]) OnAdd(parent P, _ bool) { h.hold(index.KeyOf(parent), h.of(parent)) }

// OnUpdate implements typed.Handler.
func (h *referrers[P, T]) OnUpdate(_, parent P) { h.hold(index.KeyOf(parent), h.of(parent)) }

// OnDelete implements typed.Handler.
func (h *referrers[P, T]) OnDelete(d typed.Deleted[P]) { h.hold(d.Key, nil) }

func (h *referrers[P, T]) hold(parent index.Key, keys []index.Key) {
	err := h.source.hold(owner[index.Key]{of: parent, room: h.room}, keys, true)
	if err != nil && !errors.Is(err, typed.ErrStopped) {
		utilruntime.HandleErrorWithContext(context.Background(), err, "A key that an object names cannot be held", "object", parent)
	}
}

// retry holds what From could not hold for lack of room, if there is some now.
func (s *Source[O, T]) retry() {
	s.mu.Lock()
	var waiting map[owner[O]][]index.Key
	if s.room && s.waitRoom > 0 {
		waiting = map[owner[O]][]index.Key{}
		for by, h := range s.owners {
			for _, one := range h.unheld {
				if errors.Is(one.Err, ErrLimit) {
					waiting[by] = append(waiting[by], one.Key)
				}
			}
		}
	}
	s.room = false
	s.mu.Unlock()
	for by, keys := range waiting {
		for _, key := range keys {
			if e, err := s.take(key); err == nil {
				s.fill(by, e)
			} else if errors.Is(err, ErrLimit) {
				return
			}
		}
	}
}

// fill gives an owner a key that it could not hold before, if it wants it still.
func (s *Source[O, T]) fill(by owner[O], e *entry[T]) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if h := s.owners[by]; h != nil {
		if i := slices.IndexFunc(h.unheld, func(one Refusal) bool { return one.Key == e.key }); i >= 0 {
			h.unheld = slices.Delete(h.unheld, i, i+1)
			h.keys[e.key] = struct{}{}
			s.waitRoom--
			return
		}
	}
	s.release(e)
}
