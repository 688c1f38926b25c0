// Package lister reads objects the way generated listers do, from a typed
// store and without conversions:
//
//	pods := lister.New(informer) // informer is a *typed.Informer[*corev1.Pod]
//	pod, err := pods.Namespace("default").Get("web-0")
//	web, err := pods.List(labels.SelectorFromSet(labels.Set{"app": "web"}))
package lister
