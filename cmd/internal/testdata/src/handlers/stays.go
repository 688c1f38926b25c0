package handlers

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/tools/cache"
)

type other struct{ corev1.Pod }

func inferred[T any](obj T) {}

func handlerOf() func(any) { return nil }

func stay(c *controller, pods informers.PodInformer, informer cache.SharedIndexInformer, f func(any)) {
	informer.AddEventHandler(cache.ResourceEventHandlerFuncs{AddFunc: c.enqueue})     // want `the handler stays: the type of its objects is not known`
	informer.AddEventHandler(cache.ResourceEventHandlerFuncs{AddFunc: func(obj any) { // want `the type of its objects is not known`
		if pod, ok := obj.(*corev1.Pod); ok {
			c.names <- pod.Name
		}
	}})
	informer.AddEventHandler(cache.ResourceEventHandlerFuncs{ // want `several types`
		AddFunc:    func(obj any) { c.names <- obj.(*corev1.Pod).Name },
		DeleteFunc: func(obj any) { c.names <- obj.(*other).Name },
	})
	pods.Informer().AddEventHandler(cache.ResourceEventHandlerFuncs{ // want `not to the type of the informer's objects`
		AddFunc: func(obj any) { c.names <- obj.(*other).Name },
	})
	pods.Informer().AddEventHandler(cache.ResourceEventHandlerFuncs{AddFunc: f})             // want `may be nil`
	pods.Informer().AddEventHandler(cache.ResourceEventHandlerFuncs{AddFunc: handlerOf()})   // want `the result of an expression`
	pods.Informer().AddEventHandler(cache.ResourceEventHandlerFuncs{AddFunc: func(obj any) { // want `used here as a variable of type any`
		x := obj
		c.any <- x
	}})
	pods.Informer().AddEventHandler(cache.ResourceEventHandlerFuncs{AddFunc: func(obj any) { inferred(obj) }}) // want `used here as a variable`
	pods.Informer().AddEventHandler(cache.ResourceEventHandlerFuncs{AddFunc: func(obj any) {                   // want `the result ok of a cast`
		pod, ok := obj.(*corev1.Pod)
		c.any <- ok && pod.Name == ""
	}})
	pods.Informer().AddEventHandler(cache.ResourceEventHandlerFuncs{DeleteFunc: func(obj any) { // want `no known shape`
		tombstone, ok := obj.(cache.DeletedFinalStateUnknown)
		if !ok {
			return
		}
		c.names <- tombstone.Key
	}})
	handler := cache.ResourceEventHandlerFuncs{AddFunc: c.enqueue} // want `not used as a cache.ResourceEventHandler`
	handler.DeleteFunc = c.enqueue
	pods.Informer().AddEventHandler(handler) // the first use is the assignment
}

type parts struct{ first, second, third *controller }

func newParts(c *controller, pods informers.PodInformer) *parts {
	p := &parts{third: c}
	p.first = c
	pods.Informer().AddEventHandler(cache.ResourceEventHandlerFuncs{AddFunc: p.first.enqueue}) // want `first may be set again later`
	p.first = &controller{}
	pods.Informer().AddEventHandler(cache.ResourceEventHandlerFuncs{AddFunc: p.second.enqueue}) // want `second may be set again later`
	return p
}

func (p *parts) stop() { p.second = nil }

var last *controller

func setLast(c *controller) { last = c }

func ofLast(pods informers.PodInformer) {
	pods.Informer().AddEventHandler(cache.ResourceEventHandlerFuncs{AddFunc: last.enqueue}) // want `last may be set again later`
}

// inLoop: the method would be that of the last controller.
func inLoop(pods informers.PodInformer, all []*controller) {
	var c *controller
	for _, c = range all {
		pods.Informer().AddEventHandler(cache.ResourceEventHandlerFuncs{AddFunc: c.enqueue}) // want `c may be set again later`
	}
	set := func() { c = all[0] }
	pods.Informer().AddEventHandler(cache.ResourceEventHandlerFuncs{AddFunc: c.enqueue}) // want `c may be set again later`
	set()
}

type named struct{ names chan string }

func (n named) enqueue(any) { n.names <- "" }

// ofCopy: the method has the channel that the struct has here.
func ofCopy(pods informers.PodInformer) {
	n := named{make(chan string)}
	pods.Informer().AddEventHandler(cache.ResourceEventHandlerFuncs{AddFunc: n.enqueue}) // want `the method has a copy of names, which may be set again later`
	n.names = nil
}

// hidden: the name of the parameter means the copy in the clause.
func hidden(c *controller, pods informers.PodInformer) {
	pods.Informer().AddEventHandler(cache.ResourceEventHandlerFuncs{AddFunc: func(obj any) { // want `the name obj has another meaning here`
		switch pod := obj.(type) {
		case *corev1.Pod:
			obj := &corev1.Pod{}
			c.names <- pod.Name + obj.Name
		}
	}})
}

type informed struct {
	informer cache.SharedIndexInformer
	c        *controller
}

// unkeyed: the field is set to informers of two types.
func unkeyed(c *controller, pods informers.PodInformer, others cache.SharedIndexInformer) {
	for _, a := range []*informed{{others, c}, {informer: pods.Informer(), c: c}} {
		a.informer.AddEventHandler(cache.ResourceEventHandlerFuncs{AddFunc: c.enqueue}) // want `the type of its objects is not known`
	}
}

// both: objects that are no Pods go to the queue.
func both(c *controller, pods informers.PodInformer) {
	others := cache.NewSharedIndexInformer(nil, &other{}, 0, nil)
	handler := cache.ResourceEventHandlerFuncs{AddFunc: func(obj any) { // want `it is added to informers of several types`
		pod, ok := obj.(*corev1.Pod)
		if !ok {
			c.enqueue(obj)
			return
		}
		c.names <- pod.Name
	}}
	pods.Informer().AddEventHandler(handler)
	others.AddEventHandler(handler)
	for _, informer := range []cache.SharedIndexInformer{pods.Informer(), others} {
		informer.AddEventHandler(cache.ResourceEventHandlerFuncs{AddFunc: func(obj any) { // want `it is added to informers of several types`
			pod, ok := obj.(*corev1.Pod)
			if !ok {
				c.enqueue(obj)
				return
			}
			c.names <- pod.Name
		}})
	}
}
