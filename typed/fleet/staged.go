package fleet

import (
	"unique"

	"github.com/kubetyped/informer/index"
	"github.com/kubetyped/informer/typed/source"
)

// staged is an object of a list of a cluster, as the informer's sink has taken it in, with its
// key, which otherwise only the sink knows.
type staged struct {
	source.Staged

	at   unique.Handle[place]
	name string
}

// Key implements source.Staged: it is that of the object in its cluster.
func (s *staged) Key() index.Key {
	if s.Staged.Key() == (index.Key{}) {
		return index.Key{}
	}
	return index.Key{Namespace: valueOf(s.at).namespace, Name: s.name}
}

// unpack returns what the informer's sink has taken in, the names of the objects, and the keys
// of rejected ones. The names include neither these nor objects that were left out on purpose.
func (m *member[T]) unpack(list []source.Staged) (inner []source.Staged, listed names, rejected []index.Key) {
	inner = make([]source.Staged, 0, len(list))
	for i, one := range list {
		list[i] = nil
		obj, ok := one.(*staged)
		if !ok {
			if key, is := source.Rejected(one); is { // before it came here
				rejected = append(rejected, key)
				one = source.Reject(m.keyOf(key))
			}
			inner = append(inner, one)
			continue
		}
		inner = append(inner, obj.Staged)
		if _, is := source.Rejected(obj.Staged); is {
			rejected = append(rejected, obj.Key())
		} else if obj.Staged != source.LeaveOut() {
			listed.add(valueOf(obj.at).namespace, obj.name)
		}
	}
	return inner, listed, rejected
}
