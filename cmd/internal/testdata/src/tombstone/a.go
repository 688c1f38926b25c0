package tombstone

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/cache"
)

type controller struct{}

func (c *controller) enqueue(obj any) {}

func (c *controller) handlers() []cache.ResourceEventHandlerFuncs {
	return []cache.ResourceEventHandlerFuncs{
		{AddFunc: func(obj any) { c.enqueue(obj.(*corev1.Pod)) }},
		{DeleteFunc: func(obj any) {
			c.enqueue(obj.(*corev1.Pod)) // want `panics if the informer missed the deletion`
		}},
		{DeleteFunc: func(obj any) {
			pod, ok := obj.(*corev1.Pod) // want `loses deletions that the informer missed`
			if !ok {
				fmt.Println(obj)
				return
			}
			c.enqueue(pod)
		}},
		{DeleteFunc: func(obj any) {
			if unknown, ok := obj.(cache.DeletedFinalStateUnknown); ok {
				obj = unknown.Obj
			}
			c.enqueue(obj.(*corev1.Pod))
		}},
		{DeleteFunc: func(obj any) {
			pod, ok := obj.(*corev1.Pod)
			if !ok {
				c.enqueue(obj)
				return
			}
			c.enqueue(pod)
		}},
		{DeleteFunc: func(obj any) {
			switch t := obj.(type) {
			case *corev1.Pod:
				c.enqueue(t)
			case cache.DeletedFinalStateUnknown:
				c.enqueue(t.Obj)
			}
		}},
		{DeleteFunc: func(obj any) {
			switch t := obj.(type) { // want `loses deletions`
			case *corev1.Pod:
				c.enqueue(t)
			}
		}},
		{DeleteFunc: func(obj any) {
			switch t := obj.(type) {
			case *corev1.Pod:
				c.enqueue(t)
			default:
				c.enqueue(t)
			}
		}},
		{DeleteFunc: func(obj any) {
			switch t := obj.(type) { // want `loses deletions`
			case *corev1.Pod:
				c.enqueue(t)
			default:
				fmt.Println(t)
			}
		}},
		{DeleteFunc: func(obj any) {
			key, err := cache.DeletionHandlingMetaNamespaceKeyFunc(obj)
			if err == nil {
				c.enqueue(key)
			}
		}},
		{DeleteFunc: func(obj any) {
			if m, ok := obj.(metav1.Object); ok { // want `loses deletions`
				c.enqueue(m.GetName())
			}
		}},
		{DeleteFunc: func(obj any) {
			obj = objectOf(obj)
			c.enqueue(obj.(*corev1.Pod))
		}},
		{DeleteFunc: func(obj any) {
			obj = fmt.Sprint(obj)
			c.enqueue(obj.(string)) // want `panics`
		}},
		{DeleteFunc: func(obj any) {
			key, err := cache.MetaNamespaceKeyFunc(obj) // want `loses deletions that the informer missed, as MetaNamespaceKeyFunc`
			if err == nil {
				c.enqueue(key)
			}
		}},
		{DeleteFunc: func(obj any) {
			if unknown, ok := obj.(cache.DeletedFinalStateUnknown); ok {
				obj = unknown.Obj
			}
			c.enqueueKey(obj)
		}},
		{AddFunc: c.enqueueBoth, DeleteFunc: c.enqueueBoth},
		{AddFunc: c.enqueueAdded, DeleteFunc: func(obj any) { c.enqueueDeleted("deleted", obj) }},
		{DeleteFunc: c.deleted},
		{DeleteFunc: c.enqueue},
	}
}

func (c *controller) deleted(obj any) {
	pod := obj.(*corev1.Pod) // want `panics`
	c.enqueue(pod)
}

// enqueueKey gets objects alone.
func (c *controller) enqueueKey(obj any) {
	if key, err := cache.MetaNamespaceKeyFunc(obj); err == nil {
		c.enqueue(key)
	}
}

func (c *controller) enqueueBoth(obj any) {
	if key, err := cache.ObjectToName(obj); err == nil { // want `as ObjectToName makes no key of them`
		c.enqueue(key)
	}
}

func (c *controller) enqueueAdded(obj any) { c.enqueueKey(obj) }

func (c *controller) enqueueDeleted(_ string, obj any) {
	key, _ := cache.MetaNamespaceKeyFunc(obj) // want `as MetaNamespaceKeyFunc makes no key of them`
	c.enqueue(key)
}

type handlerOf[T any] struct{}

// OnDelete gets objects of one type.
func (handlerOf[T]) OnDelete(obj T) {
	key, _ := cache.MetaNamespaceKeyFunc(obj)
	fmt.Println(key)
}

type event struct{ obj any }

func (c *controller) sent(events chan any) []cache.ResourceEventHandlerFuncs {
	return []cache.ResourceEventHandlerFuncs{
		{DeleteFunc: func(obj any) {
			if pod, ok := obj.(*corev1.Pod); ok {
				fmt.Println(pod.Name)
			}
			events <- obj
		}},
		{DeleteFunc: func(obj any) {
			if pod, ok := obj.(*corev1.Pod); ok {
				fmt.Println(pod.Name)
			}
			c.enqueue(event{obj})
		}},
	}
}

type handler struct{}

func (handler) OnDelete(obj any) {
	fmt.Println(obj.(*corev1.Pod)) // want `panics`
}

// OnDelete is no handler.
func OnDelete(obj any) { fmt.Println(obj.(*corev1.Pod)) }

// objectOf returns the last state of an object that was deleted.
func objectOf(obj any) any {
	if unknown, ok := obj.(cache.DeletedFinalStateUnknown); ok {
		return unknown.Obj
	}
	return obj
}
