package shard

import (
	"errors"
	"hash/fnv"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubetyped/informer/index"
)

// Hash decides which range an object is in, and so which member of a group it belongs
// to.
type Hash struct {
	name  string
	field string // that an API server can hash, "" for none
	needs string // the field that value reads, "" if that is always there
	value func(obj named) (string, error)
	ofKey func(key index.Key) string // the same from a key alone; nil if that is not enough
}

// String returns the name of the hash.
func (h Hash) String() string { return h.name }

// UID hashes UIDs, which the API server can do as well. It spreads objects best. An
// object that is deleted and created again has another UID, and may belong to another
// member then.
func UID() Hash {
	return Hash{name: "UID", field: "object.metadata.uid", value: func(obj named) (string, error) {
		o, ok := obj.(interface{ GetUID() types.UID })
		if !ok {
			return "", errors.New("object has no method GetUID")
		}
		return string(o.GetUID()), nil
	}}
}

// Namespace hashes namespaces, which the API server can do as well: all objects of a
// namespace belong to one member, of all kinds. Cluster-scoped objects all belong to one
// member.
//
// The server's hash (FNV-1a, by its highest bits) puts names that differ in their last
// letter alone, such as tenant-1 and tenant-2, into the same range or a few. Groups by Key
// and others that servers cannot do have no such weakness.
func Namespace() Hash {
	return Hash{
		name: "Namespace", field: "object.metadata.namespace",
		value: func(obj named) (string, error) { return obj.GetNamespace(), nil },
		ofKey: func(key index.Key) string { return key.Namespace },
	}
}

// Key hashes namespace and name. A key belongs to one member, even if its object is
// deleted and created again.
func Key() Hash {
	return Hash{
		name: "Key",
		value: func(obj named) (string, error) {
			return joined(index.Key{Namespace: obj.GetNamespace(), Name: obj.GetName()}), nil
		},
		ofKey: joined,
	}
}

// joined returns a key as what is hashed. Names have no slash.
func joined(key index.Key) string { return key.Namespace + "/" + key.Name }

// OwnerUID hashes the UID of the owner that is the object's controller, or its own if it
// has none. In a group by UID, objects belong to the member that has their owner.
func OwnerUID() Hash {
	return ofOwner("OwnerUID", UID(), func(_ named, owner *metav1.OwnerReference) string { return string(owner.UID) })
}

// OwnerKey hashes the object's namespace and the name of the owner that is its
// controller, or its own name if it has none. In a group by Key, objects belong to the
// member that has their owner, if that is in the same namespace.
func OwnerKey() Hash {
	return ofOwner("OwnerKey", Key(), func(obj named, owner *metav1.OwnerReference) string {
		return joined(index.Key{Namespace: obj.GetNamespace(), Name: owner.Name})
	})
}

// ofOwner hashes a value of the owner that is the object's controller, or what own does if the
// object has none.
func ofOwner(name string, own Hash, value func(obj named, owner *metav1.OwnerReference) string) Hash {
	return Hash{name: name, needs: "metadata.ownerReferences", value: func(obj named) (string, error) {
		owner, err := controllerOf(obj)
		switch {
		case err != nil:
			return "", err
		case owner == nil:
			return own.value(obj)
		}
		return value(obj, owner), nil
	}}
}

// Label hashes the value of a label. Objects without it belong to one member.
func Label(label string) Hash {
	return Hash{name: "Label " + label, needs: "metadata.labels", value: func(obj named) (string, error) {
		o, ok := obj.(interface{ GetLabels() map[string]string })
		if !ok {
			return "", errors.New("object has no method GetLabels")
		}
		return o.GetLabels()[label], nil
	}}
}

// controllerOf returns the owner of an object that is its controller, nil if it has none.
func controllerOf(obj named) (*metav1.OwnerReference, error) {
	o, ok := obj.(interface {
		GetOwnerReferences() []metav1.OwnerReference
	})
	if !ok {
		return nil, errors.New("object has no method GetOwnerReferences")
	}
	for _, owner := range o.GetOwnerReferences() {
		if owner.Controller != nil && *owner.Controller {
			return &owner, nil
		}
	}
	return nil, nil
}

// rangeOf returns the range of a value that the API server can hash: of its hash, FNV-1a
// with 64 bits.
func rangeOf(value string) uint8 { return uint8(sum(value) >> 56) }

// mixedRangeOf returns the range of a value that only members hash. The highest bits of
// FNV-1a hardly depend on the last letters, so they are mixed, by the last steps of
// MurmurHash3.
func mixedRangeOf(value string) uint8 {
	h := sum(value)
	h ^= h >> 33
	h *= 0xff51afd7ed558ccd
	h ^= h >> 33
	h *= 0xc4ceb9fe1a85ec53
	h ^= h >> 33
	return uint8(h >> 56)
}

func sum(value string) uint64 {
	h := fnv.New64a()
	_, _ = h.Write([]byte(value)) // never fails
	return h.Sum64()
}

// named is what all objects have.
type named interface {
	GetNamespace() string
	GetName() string
}
