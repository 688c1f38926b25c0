package fleet

import "unique"

// place is a namespace of a cluster. There is one of each in memory, as long as some
// object is there.
type place struct {
	cluster, namespace string
	joined             string // both, as in keys
}

func newPlace(cluster, namespace string) unique.Handle[place] {
	return unique.Make(place{cluster: cluster, namespace: namespace, joined: join(cluster, namespace)})
}

// valueOf returns the place of a handle, an empty one for the zero handle.
func valueOf(h unique.Handle[place]) place {
	if h == (unique.Handle[place]{}) {
		return place{}
	}
	return h.Value()
}
