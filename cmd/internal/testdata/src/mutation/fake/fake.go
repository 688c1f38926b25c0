// Package fake is for tests.
package fake

import listers "k8s.io/client-go/listers/core/v1"

func get(lister listers.PodLister) {
	pod, _ := lister.Pods("ns").Get("web")
	pod.Name = "x"
}
