package fleet

import (
	"strings"
	"unique"

	"github.com/kubetyped/informer/index"
)

// Key returns the key of an object of a cluster, by which informers of fleets know it, and
// queues of controllers. The namespace of such a key is "cluster/namespace", or
// "cluster/" for objects that are cluster-scoped:
//
//	pod, ok := pods.Get(fleet.Key("east", "shop", "web-0"))
//
// As a namespace has no slash, the cluster is what stands before the last one.
func Key(cluster, namespace, name string) index.Key {
	return index.Key{Namespace: join(cluster, namespace), Name: name}
}

// Split returns what a key was made of by [Key]: the cluster, and the key that the object
// has in it. A key without a cluster, one of another informer, gives no cluster, and
// itself.
func Split(key index.Key) (cluster string, inCluster index.Key) {
	at := strings.LastIndexByte(key.Namespace, '/')
	if at < 0 {
		return "", key
	}
	return key.Namespace[:at], index.Key{Namespace: key.Namespace[at+1:], Name: key.Name}
}

func join(cluster, namespace string) string { return cluster + "/" + namespace }

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
