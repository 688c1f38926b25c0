// Package fixes contains writes that a copy before them makes right.
package fixes

import (
	corev1 "k8s.io/api/core/v1"
	listers "k8s.io/client-go/listers/core/v1"
)

func direct(lister listers.PodLister, ok bool) (*corev1.Pod, error) {
	pod, err := lister.Pods("ns").Get("web")
	if err != nil {
		return nil, err
	}
	if ok {
		pod.Labels["a"] = "b" // want `Labels`
		pod.Name = "x"        // want `Name`
	}
	if err := label(pod); err != nil { // want `Labels`
		return nil, err
	}
	return pod, nil
}

func label(pod *corev1.Pod) error {
	pod.Labels = nil
	return nil
}

func aliased(lister listers.PodLister) *corev1.Pod {
	pod, _ := lister.Pods("ns").Get("web")
	other := pod
	pod.Name = "x" // want `Name`
	return other
}

func captured(lister listers.PodLister) func() string {
	pod, _ := lister.Pods("ns").Get("web")
	f := func() string { return pod.Name }
	pod.Name = "x" // want `Name`
	return f
}

func part(lister listers.PodLister) {
	pod, _ := lister.Pods("ns").Get("web")
	spec := &pod.Spec
	pod.Spec.NodeName = "x" // want `NodeName`
	spec.NodeName = "y"     // want `NodeName`
}

func loop(lister listers.PodLister) {
	pods, _ := lister.List(nil)
	for _, pod := range pods {
		pod.Name = "x" // want `Name`
	}
}

func sent(lister listers.PodLister, names chan string) {
	pod, _ := lister.Pods("ns").Get("web")
	select {
	case names <- renamed(pod): // want `Name`
	default:
	}
}

func renamed(pod *corev1.Pod) string {
	pod.Name = "x"
	return pod.Name
}

func otherName(lister listers.PodLister) {
	pod, _ := lister.Pods("ns").Get("web")
	labels := pod.Labels
	labels["name"] = pod.Name // want `Labels`
}

func ofMethod(lister listers.PodLister) string {
	pod, _ := lister.Pods("ns").Get("web")
	labels := pod.GetLabels()
	pod.Labels["a"] = "b" // want `Labels`
	return labels["a"]
}

func element(lister listers.PodLister) {
	pod, _ := lister.Pods("ns").Get("web")
	container := &pod.Spec.Containers[0]
	container.Name = pod.Name // want `Name`
}

func copied(lister listers.PodLister, names chan string) *corev1.Pod {
	pod, _ := lister.Pods("ns").Get("web")
	name, other := pod.GetName(), pod.DeepCopy()
	pod.Name = name + "x" // want `Name`
	for _, name := range pod.Finalizers {
		names <- name
	}
	return other
}
