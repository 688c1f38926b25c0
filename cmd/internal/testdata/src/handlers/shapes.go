package handlers

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/tools/cache"
)

type controller struct {
	names chan string
	any   chan any
	pods  cache.SharedIndexInformer
}

func (c *controller) enqueue(obj any) { c.any <- obj }

func literals(c *controller, pods informers.PodInformer) {
	pods.Informer().AddEventHandler(cache.ResourceEventHandlerFuncs{ // want `the handler's functions can be typed`
		AddFunc: func(obj any) {
			pod := obj.(*corev1.Pod)
			c.names <- pod.Name
			c.enqueue(obj)
		},
		UpdateFunc: func(old, cur interface{}) {
			oldPod, ok := old.(*corev1.Pod)
			if !ok {
				return
			}
			curPod, ok := cur.(*corev1.Pod)
			if !ok {
				return
			}
			if oldPod.ResourceVersion != curPod.ResourceVersion {
				c.enqueue(cur)
			}
		},
		DeleteFunc: func(obj any) {
			pod, ok := obj.(*corev1.Pod)
			// When a delete is dropped, there is a tombstone.
			if !ok {
				tombstone, ok := obj.(cache.DeletedFinalStateUnknown)
				if !ok {
					fmt.Println("no tombstone")
					return
				}
				pod, ok = tombstone.Obj.(*corev1.Pod)
				if !ok {
					return
				}
			}
			c.names <- pod.Name
		},
	})
}

func branches(c *controller, pods informers.PodInformer) {
	pods.Informer().AddEventHandler(&cache.ResourceEventHandlerDetailedFuncs{ // want `can be typed`
		AddFunc: func(obj any, initial bool) {
			if pod, ok := obj.(*corev1.Pod); ok && !initial {
				c.names <- pod.Name
			}
		},
		UpdateFunc: func(_, obj any) {
			if pod, ok := obj.(*corev1.Pod); ok {
				c.names <- pod.Name
			} else {
				fmt.Println("what is this")
			}
		},
		DeleteFunc: func(obj any) {
			// The informer may have missed the deletion: a tombstone.
			if unknown, ok := obj.(cache.DeletedFinalStateUnknown); ok {
				obj = unknown.Obj
			}
			if pod, ok := obj.(*corev1.Pod); ok {
				c.names <- pod.Name
				return
			}
			fmt.Println("what is this")
		},
	})
}

func switches(c *controller, pods informers.PodInformer) {
	deleted := "deleted"
	handler := cache.FilteringResourceEventHandler{
		FilterFunc: func(obj any) bool { return true },
		Handler: cache.ResourceEventHandlerFuncs{ // want `can be typed`
			DeleteFunc: func(obj any) {
				var name string
				switch t := obj.(type) {
				case *corev1.Pod:
					name = t.Name
				case cache.DeletedFinalStateUnknown:
					name = t.Key
				default:
					return
				}
				c.names <- name + deleted
			},
			UpdateFunc: nil,
		},
	}
	pods.Informer().AddEventHandler(handler)
	pods.Informer().AddEventHandler(cache.ResourceEventHandlerFuncs{ // want `can be typed`
		DeleteFunc: func(obj any) {
			switch obj := obj.(type) {
			case *corev1.Pod:
				c.names <- obj.Name
			case cache.DeletedFinalStateUnknown:
			}
		},
	})
}

func (c *controller) add(obj any) {
	pod := obj.(*corev1.Pod)
	c.names <- pod.Name
}

func (c *controller) remove(reason string, obj any) {
	var object metav1.Object
	var ok bool
	if object, ok = obj.(metav1.Object); !ok {
		tombstone, ok := obj.(cache.DeletedFinalStateUnknown)
		if !ok {
			fmt.Println("no tombstone")
			return
		}
		object = tombstone.Obj.(metav1.Object)
	}
	c.names <- reason + object.GetResourceVersion()
}

func (c *controller) seen(obj any) { c.names <- obj.(*corev1.Pod).Name }

func (c *controller) change(old, cur any) {
	if pod, ok := old.(*corev1.Pod); ok {
		c.names <- pod.Name
	}
	c.names <- cur.(*corev1.Pod).Name
}

// methods: add and remove get types; seen and change do not, as they are called with
// something else.
func methods(c *controller, old any) {
	c.pods = cache.NewSharedIndexInformer(nil, &corev1.Pod{}, 0, nil)
	handler := cache.ResourceEventHandlerFuncs{ // want `can be typed`
		AddFunc:    c.add,
		UpdateFunc: func(old, cur any) { c.change(nil, cur) },
		DeleteFunc: func(obj any) { c.remove("gone", obj) },
	}
	c.pods.AddEventHandler(handler)
	enqueue := func(obj any) {
		if tombstone, ok := obj.(cache.DeletedFinalStateUnknown); ok {
			obj = tombstone.Obj
		}
		c.names <- obj.(*corev1.Pod).Name
	}
	c.pods.AddEventHandler(cache.ResourceEventHandlerFuncs{AddFunc: enqueue, UpdateFunc: func(_, obj any) { enqueue(obj) }, DeleteFunc: enqueue}) // want `can be typed`
	c.seen(old)
	c.pods.AddEventHandler(cache.ResourceEventHandlerFuncs{AddFunc: c.seen}) // want `can be typed`
}

// cast: the type is known from a cast.
func cast(c *controller, informer cache.SharedIndexInformer) {
	informer.AddEventHandler(cache.ResourceEventHandlerFuncs{ // want `can be typed`
		AddFunc: func(obj any) { c.names <- obj.(*corev1.Pod).Name },
	})
}

func conditions(c *controller, pods informers.PodInformer) {
	pods.Informer().AddEventHandler(cache.ResourceEventHandlerFuncs{ // want `can be typed`
		AddFunc: func(obj any) {
			pod, ok := obj.(*corev1.Pod)
			if !ok || pod.Name == "" {
				return
			}
			c.names <- pod.Name
		},
		UpdateFunc: func(old, cur any) {
			oldPod, ok1 := old.(*corev1.Pod)
			curPod, ok2 := cur.(*corev1.Pod)
			if !ok1 || !ok2 {
				return
			}
			if ok1 && oldPod.Name != curPod.Name && ok2 {
				c.names <- curPod.Name
			}
		},
	})
}

type holder struct{ c *controller }

// field: it is set before.
func field(h *holder, c *controller, pods informers.PodInformer) {
	h.c = c
	pods.Informer().AddEventHandler(cache.ResourceEventHandlerFuncs{AddFunc: h.c.enqueue}) // want `can be typed`
}

// inEachRound: the variable is another one in each round.
func inEachRound(pods informers.PodInformer, all []*controller) {
	for _, c := range all {
		if c.any == nil {
			c = &controller{}
		}
		pods.Informer().AddEventHandler(cache.ResourceEventHandlerFuncs{AddFunc: c.enqueue}) // want `can be typed`
	}
}

// scopes: the variable of a branch does not hide another one after it.
func scopes(c *controller, pods informers.PodInformer, pod *corev1.Pod) {
	pods.Informer().AddEventHandler(cache.ResourceEventHandlerFuncs{ // want `can be typed`
		AddFunc: func(obj any) {
			if pod, ok := obj.(*corev1.Pod); !ok {
				return
			} else if pod.Name == "" {
				return
			}
			c.names <- pod.Name
		},
	})
}

// places: what is set is found with the parameter.
func places(c *controller, pods informers.PodInformer, byName map[string]*corev1.Pod) {
	pods.Informer().AddEventHandler(cache.ResourceEventHandlerFuncs{ // want `can be typed`
		AddFunc: func(obj any) { byName[obj.(*corev1.Pod).Name] = obj.(*corev1.Pod) },
		DeleteFunc: func(obj any) {
			var (
				pod *corev1.Pod
				ok  bool
			)
			if pod, ok = obj.(*corev1.Pod); !ok {
				tombstone, ok := obj.(cache.DeletedFinalStateUnknown)
				if !ok {
					return
				}
				pod = tombstone.Obj.(*corev1.Pod)
			}
			byName[pod.Name] = nil
		},
		UpdateFunc: func(_, cur any) {
			var found, ok bool
			var pod *corev1.Pod
			if pod, ok = cur.(*corev1.Pod); !ok {
				return
			}
			if _, found = byName[pod.Name]; found {
				c.names <- pod.Name
			}
		},
	})
}
