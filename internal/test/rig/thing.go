package rig

import (
	"fmt"
	"strconv"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubetyped/informer/index"
)

// Thing is what the tests keep: as little as an object can be.
type Thing struct {
	Namespace, Name, Node string
	UID                   types.UID
	Version               int
	Deleted               *metav1.Time
}

// GetNamespace implements index.Object.
func (o *Thing) GetNamespace() string { return o.Namespace }

// GetName implements index.Object.
func (o *Thing) GetName() string { return o.Name }

// GetUID returns the UID, which differs from that of a later thing of the same name.
func (o *Thing) GetUID() types.UID { return o.UID }

// GetResourceVersion returns the version as the server spells it.
func (o *Thing) GetResourceVersion() string { return strconv.Itoa(o.Version) }

// String returns the name and version.
func (o *Thing) String() string { return fmt.Sprintf("%s@%d", o.Name, o.Version) }

// GetLabels implements index.Labeled: there are none.
func (o *Thing) GetLabels() map[string]string { return nil }

// GetDeletionTimestamp returns when the thing was asked to go, nil if it was not.
func (o *Thing) GetDeletionTimestamp() *metav1.Time { return o.Deleted }

// At returns a thing of the given name and version.
func At(name string, version int) *Thing {
	return &Thing{Namespace: "ns", Name: name, UID: types.UID(name), Version: version, Node: fmt.Sprint("node-", version%3)}
}

// On returns the thing on another node.
func On(node string, o *Thing) *Thing {
	c := *o
	c.Node = node
	return &c
}

// Key returns the key of a thing of the given name.
func Key(name string) index.Key { return index.Key{Namespace: "ns", Name: name} }

// OnX reports whether a thing is on the node x.
func OnX(o *Thing) bool { return o.Node == "x" }
