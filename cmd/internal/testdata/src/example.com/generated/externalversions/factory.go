// Package externalversions is a factory of informer-gen.
package externalversions

import "time"

type SharedInformerFactory interface {
	InformerFor(obj any, newFunc func()) any
	Start(stop <-chan struct{})
}

func NewSharedInformerFactory(client any, resync time.Duration) SharedInformerFactory { return nil }
