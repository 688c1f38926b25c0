package mutation

import (
	corev1 "k8s.io/api/core/v1"
	listers "k8s.io/client-go/listers/core/v1"
)

// itemsOf returns shallow copies.
func itemsOf(lister listers.PodLister) *corev1.PodList {
	list := &corev1.PodList{}
	pods, _ := lister.List(nil)
	for _, pod := range pods {
		list.Items = append(list.Items, *pod)
	}
	return list
}

func copiedItems(lister listers.PodLister, n int) {
	list := itemsOf(lister)
	for i := range n {
		list.Items[i].Labels["a"] = "b" // want `Labels.* of an object`
		list.Items[i] = *list.Items[i].DeepCopy()
		list.Items[i].Name = "x"
		list.Items[i].Spec.Containers[0].Image = "x"
		if list.Items[i].Labels == nil {
			list.Items[i].Labels = map[string]string{}
		}
		list.Items[i].Labels["a"] = "b"
		one := list.Items[i]
		one.Labels["a"] = "b"
		list.Items[n].Annotations["a"] = "b" // want `Annotations.* of an object`
	}
	byName := map[string]corev1.Pod{}
	for i, one := range itemsOf(lister).Items {
		byName[one.Name] = one
		byName[one.Name].Labels["a"] = "b" // want `Labels.* of an object`
		byName["a"] = *one.DeepCopy()
		byName["a"].Labels["a"] = "b"
		list.Items[i] = *one.DeepCopy()
		list.Items[0].Labels = one.Labels
		list.Items[i].Labels["a"] = "b" // want `Labels.* of an object`
	}
}

func copiedFirst(lister listers.PodLister, n int) {
	pods, _ := lister.List(nil)
	for i := range pods {
		pods[i].Name = "x" // want `Name of an object`
		pods[i] = pods[i].DeepCopy()
	}
	for _, pod := range pods {
		pod.Name = "x"
	}
	list := itemsOf(lister)
	for i, item := range list.Items {
		list.Items[i] = *item.DeepCopy()
		list.Items[i].Annotations = map[string]string{}
	}
	for i := range list.Items {
		list.Items[i].Labels["a"] = "b"
	}
	func() {
		for i := range pods {
			pods[i] = pods[i].DeepCopy()
		}
		pods[0].Name = "x"
	}()
	pods[n].Name = "x"
}

func copiedSome(lister listers.PodLister, n int) {
	pods, _ := lister.List(nil)
	for i, pod := range pods {
		if pod.Name == "" {
			continue
		}
		pods[i] = pod.DeepCopy()
	}
	pods[0].Name = "x" // want `Name of an object`
	for i, pod := range pods {
		pods[i] = pod.DeepCopy()
		if i == n {
			break
		}
	}
	pods[0].Name = "x" // want `Name of an object`
	rest := pods[1:]
	for i, pod := range rest {
		rest[i] = pod.DeepCopy()
	}
	pods[0].Name = "x" // want `Name of an object`
	for i, pod := range pods {
		pods[i], pods[0] = pod.DeepCopy(), pod
	}
	pods[0].Name = "x" // want `Name of an object`
	for i := range pods {
		pods[i] = pods[i].DeepCopy()
		pods = pods[1:]
	}
	pods[0].Name = "x" // want `Name of an object`
	other, _ := lister.List(nil)
	for i := range pods {
		other[i] = other[i].DeepCopy()
	}
	other[0].Name = "x" // want `Name of an object`
	list := itemsOf(lister)
	for i := range list.Items {
		list.Items[i] = *list.Items[i].DeepCopy()
		list.Items[0].Labels = pods[0].Labels
	}
	list.Items[0].Labels["a"] = "b" // want `Labels.* of an object`
}

func withLabels(pod *corev1.Pod) *corev1.Pod {
	out := *pod
	out.Labels = map[string]string{}
	return &out
}

func withLabelsIf(pod *corev1.Pod, labels map[string]string) *corev1.Pod {
	out := *pod
	if labels != nil {
		out.Labels = labels
	}
	return &out
}

func withAnnotations(pod *corev1.Pod) (corev1.Pod, error) {
	if pod == nil {
		return corev1.Pod{}, nil
	}
	out := *pod
	out.Annotations = map[string]string{}
	return out, nil
}

// replacedParts: functions return shallow copies, of which they replace parts.
func replacedParts(lister listers.PodLister) {
	pod, _ := lister.Pods("").Get("")
	withLabels(pod).Labels["a"] = "b"
	withLabels(pod).Finalizers[0] = "a"                             // want `Finalizers.* of an object`
	withLabelsIf(pod, map[string]string{"a": ""}).Labels["a"] = "b" // want `Labels.* of an object`
	annotated, _ := withAnnotations(pod)
	annotated.Annotations["a"] = "b"
	annotated.Labels["a"] = "b" // want `Labels.* of an object`
}

func without(list []string, name string) []string {
	kept := list[:0]
	for _, one := range list {
		if one != name {
			kept = append(kept, one)
		}
	}
	return kept
}

// shortened: append writes to the elements of the slice that it is given the beginning of.
func shortened(lister listers.PodLister, i int) {
	pod, _ := lister.Pods("").Get("")
	_ = append(pod.Finalizers[:i], pod.Finalizers[i+1:]...) // want `Finalizers.* of an object`
	_ = append(pod.Finalizers[1:][:i], "a")                 // want `Finalizers.* of an object`
	_ = append(pod.Finalizers[:i:i], "a")
	_ = append(pod.Finalizers[:0:0], "a")
	_ = append(pod.Finalizers[1:], "a")
	_ = without(pod.Finalizers, "a") // want `Finalizers.* of an object`
	_ = without(pod.DeepCopy().Finalizers, "a")
	pods, _ := lister.List(nil)
	_ = append(pods[:i], pods[i+1:]...)
}
