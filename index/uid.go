package index

import "k8s.io/apimachinery/pkg/types"

// uidGetter is an object that has a UID.
type uidGetter interface{ GetUID() types.UID }

// counting returns the changes that count, see Change.UID, in a new slice if some do not. A
// change is judged by the state that those before it leave. The caller holds writer.
func (x *Indexer[T]) counting(changes []Change[T]) []Change[T] {
	for i := range changes {
		if changes[i].UID != nil {
			return x.countingFrom(i, changes)
		}
	}
	return changes
}

// countingFrom is counting if change n is the first one with a UID.
func (x *Indexer[T]) countingFrom(n int, changes []Change[T]) []Change[T] {
	latest := map[Key]*Change[T]{} // of those that count
	for i := range n {
		latest[changes[i].key()] = &changes[i]
	}
	counting := append(make([]Change[T], 0, len(changes)), changes[:n]...)
	for i := n; i < len(changes); i++ {
		c := &changes[i]
		key := c.key()
		if c.UID != nil {
			found, now := x.before(x.locate(key))
			if before := latest[key]; before != nil {
				found, now = !before.Delete, before.Object
			}
			if identified, ok := any(now).(uidGetter); !found || !ok || identified.GetUID() != *c.UID {
				continue
			}
		}
		latest[key] = c
		counting = append(counting, *c)
	}
	return counting
}
