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

func copiedItems(lister listers.PodLister, other corev1.Pod) {
	list := itemsOf(lister)
	for i := range list.Items {
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
		list.Items[0].Annotations["a"] = "b" // want `Annotations.* of an object`
	}
	byName := map[string]corev1.Pod{}
	for i, one := range list.Items {
		byName[one.Name] = one
		byName[one.Name].Labels["a"] = "b" // want `Labels.* of an object`
		byName["a"] = *one.DeepCopy()
		byName["a"].Labels["a"] = "b"
		list.Items[i] = *one.DeepCopy()
		list.Items[0].Labels = one.Labels
		list.Items[i].Labels["a"] = "b" // want `Labels.* of an object`
	}
}
