package fleet

import (
	"strings"

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
