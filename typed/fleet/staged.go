package fleet

import (
	"unique"

	"github.com/kubetyped/informer/index"
	"github.com/kubetyped/informer/typed/source"
)

// staged is an object of a list of a cluster, as the informer's sink has taken it in, with
// its key, which only the sink could tell otherwise.
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

// unpack returns what the informer's sink has taken in, and the names of the objects. What
// was left out on purpose is in neither; of what was rejected there are the names. A
// namespace other than "" is the one that all have to be in.
func unpack(list []source.Staged) (inner []source.Staged, listed names) {
	inner = make([]source.Staged, 0, len(list))
	for i, one := range list {
		list[i] = nil
		obj, ok := one.(*staged)
		if !ok {
			inner = append(inner, one) // it was rejected here
			continue
		}
		inner = append(inner, obj.Staged)
		if obj.Staged != source.LeaveOut() {
			listed.add(valueOf(obj.at).namespace, obj.name)
		}
	}
	return inner, listed
}
