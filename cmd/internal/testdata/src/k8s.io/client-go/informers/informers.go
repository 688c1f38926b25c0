// Package informers is a stub.
package informers

import (
	"time"

	v1 "k8s.io/client-go/listers/core/v1"
	"k8s.io/client-go/tools/cache"
)

type PodInformer interface {
	Informer() cache.SharedIndexInformer
	Lister() v1.PodLister
}

type TypedPodInformer interface {
	PodInformer
	TypedInformer() cache.SharedIndexInformer
}

type NodeInformer interface {
	Informer() cache.SharedIndexInformer
	TypedInformer() cache.SharedIndexInformer
	Lister() v1.PodLister
}

type SharedInformerFactory interface {
	Start(stop <-chan struct{})
	WaitForCacheSync(stop <-chan struct{}) map[string]bool
	Pods() TypedPodInformer
	Nodes() NodeInformer
	ForResource(resource string) GenericInformer
}

func NewSharedInformerFactory(client any, resync time.Duration) SharedInformerFactory { return nil }

func NewOther() {}

type GenericInformer interface {
	Informer() cache.SharedIndexInformer
}
