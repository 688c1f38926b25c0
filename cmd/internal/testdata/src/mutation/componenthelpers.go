package mutation

import (
	corelisters "k8s.io/client-go/listers/core/v1"
	"k8s.io/component-helpers/resource"
)

// summed uses a map of a cached object for sums.
func summed(lister corelisters.PodLister) {
	pod, _ := lister.Pods("default").Get("a")
	resource.PodRequests(pod, resource.PodResourcesOptions{Reuse: pod.Labels}) // want `Labels\[…\] of an object of a cache, PodNamespaceLister.Get .* is written to in a function that is called here`
	resource.PodRequests(pod, resource.PodResourcesOptions{Reuse: map[string]string{}})
	resource.PodRequests(pod, resource.PodResourcesOptions{})
}
