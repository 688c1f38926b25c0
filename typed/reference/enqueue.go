package reference

import (
	"errors"
	"fmt"

	"github.com/kubetyped/informer/index"
	"github.com/kubetyped/informer/internal/argument"
	"github.com/kubetyped/informer/queue"
	"github.com/kubetyped/informer/typed"
	"github.com/kubetyped/informer/typed/control"
)

// EnqueueReferrers adds the keys of the parents that name an object to a queue, when the
// object appears, changes or vanishes, and when the server refuses it or allows it again. The
// parents are those that name the object when that happens, by an index that it adds to their
// informer; so it stays right when they change what they name. Changes of the parents
// themselves are for control.Enqueue:
//
//	stop, err := reference.EnqueueReferrers(q, secrets, ingresses, secretsOf)
//	_, err = ingresses.Handle(control.Enqueue[*networkingv1.Ingress](q))
//
// When stop returns, no key is added any more. EnqueueReferrers returns an error if an
// argument is nil, if the source cannot be used, or as typed.Informer.AddIndexes does.
func EnqueueReferrers[O comparable, P, T index.Object](
	q control.Adder[index.Key], s *Source[O, T], parents *typed.Informer[P], of func(P) []index.Key,
) (stop func(), err error) {
	if argument.IsNil(q) {
		return nil, errors.New("references: queue is nil")
	}
	if err := checkParents(s, parents, of); err != nil {
		return nil, err
	}
	by := index.New(fmt.Sprintf("references %d", s.rooms.Add(1)), of)
	if err := parents.AddIndexes(by); err != nil {
		return nil, err
	}
	leave := s.Watch(func(key index.Key, state State) {
		if state.known() {
			enqueue(q, by, key)
		}
	})
	return func() {
		leave()
		parents.RemoveIndexes(by)
	}, nil
}

// enqueue adds the keys of the parents that name an object. Of a released informer there are
// none.
func enqueue[P index.Object](q control.Adder[index.Key], by *index.Index[index.Key, P], key index.Key) {
	defer recoverReleased(new(error))
	for parent := range by.All(key) {
		q.AddWithOptions(index.KeyOf(parent), queue.AddOptions{})
	}
}
