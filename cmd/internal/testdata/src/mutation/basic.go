// Package mutation contains writes to objects of caches, and their right twins.
package mutation

import (
	"encoding/json"
	"maps"
	"slices"
	"sort"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	listers "k8s.io/client-go/listers/core/v1"
)

func get(lister listers.PodLister) error {
	pod, err := lister.Pods("ns").Get("web")
	if err != nil {
		return err
	}
	pod.Labels["a"] = "b"                           // want `Labels.* of an object of a cache, PodNamespaceLister.Get \(line 19\), is written to: modify a copy`
	pod.Spec.NodeName = "node"                      // want `Spec.NodeName of an object`
	pod.Spec.Containers[0].Image = "x"              // want `Containers.*Image of an object`
	delete(pod.Annotations, "a")                    // want `Annotations.* of an object`
	clear(pod.Annotations)                          // want `Annotations.* of an object`
	pod.SetLabels(nil)                              // want `Labels of an object .* in a function`
	pod.Finalizers = append(pod.Finalizers, "mine") // want `Finalizers of an object`
	return nil
}

func copied(lister listers.PodLister) error {
	pod, err := lister.Pods("ns").Get("web")
	if err != nil {
		return err
	}
	pod = pod.DeepCopy()
	pod.Labels["a"] = "b"
	pod.Spec.NodeName = "node"
	return nil
}

func copiedInto(lister listers.PodLister) {
	pod, _ := lister.Pods("ns").Get("web")
	var mine corev1.Pod
	pod.DeepCopyInto(&mine)
	mine.Labels["a"] = "b"
	other := *pod
	pod.DeepCopyInto(&other)
	other.Labels["a"] = "b"
	mine.DeepCopyInto(pod) // want `an object of a cache`
}

func shallow(lister listers.PodLister) {
	pod, _ := lister.Pods("ns").Get("web")
	mine := *pod
	mine.Spec.NodeName = "node"
	mine.Labels["a"] = "b" // want `Labels.* of an object`
	mine.Labels = maps.Clone(mine.Labels)
	mine.Labels["a"] = "b"
	mine.Annotations["a"] = "b" // want `Annotations.* of an object`
	mine.Spec.Containers = slices.Clone(pod.Spec.Containers)
	mine.Spec.Containers[0].Image = "x"
	mine.Spec.Containers[0].Env[0].Value = "y" // want `Env.*Value of an object`
	mine.Spec.Affinity = &corev1.Affinity{}
	mine.Spec.Affinity.Node = nil
}

func copyOfAPart(lister listers.PodLister) {
	pod, _ := lister.Pods("ns").Get("web")
	mine := &corev1.Pod{ObjectMeta: pod.ObjectMeta, Spec: pod.Spec}
	mine.Name = "other"
	mine.Labels = map[string]string{}
	mine.Labels["a"] = "b"
	mine.Annotations["a"] = "b" // want `Annotations.* of an object`
}

func list(lister listers.PodLister) {
	pods, _ := lister.List(labels.Everything())
	sort.Slice(pods, func(i, j int) bool { return pods[i].Name < pods[j].Name })
	pods[0] = nil
	for _, pod := range pods {
		pod.Status.Phase = "Running" // want `Status.Phase of an object`
	}
	var kept []*corev1.Pod
	byName := map[string]*corev1.Pod{}
	for _, pod := range pods {
		kept = append(kept, pod)
		byName[pod.Name] = pod
	}
	kept[0].Name = "x"            // want `Name of an object`
	byName["a"].Status.Phase = "" // want `Status.Phase of an object`
}

func ordered(lister listers.PodLister) {
	pod, _ := lister.Pods("ns").Get("web")
	sort.Strings(pod.Finalizers)                // want `Finalizers.* of an object`
	slices.Sort(pod.Finalizers)                 // want `Finalizers.* of an object`
	slices.SortFunc(pod.Spec.Containers, nil)   // want `Containers.* of an object`
	_ = json.Unmarshal(nil, pod)                // want `an object of a cache`
	_ = json.Unmarshal(nil, &pod.Spec.Affinity) // want `Affinity.* of an object`
	copy(pod.Finalizers, []string{"a"})         // want `Finalizers.* of an object`
	mine := slices.Clone(pod.Finalizers)
	sort.Strings(mine)
	_ = slices.Sorted(maps.Keys(pod.Labels))
}

func appended(lister listers.PodLister) {
	pod, _ := lister.Pods("ns").Get("web")
	finalizers := append(pod.Finalizers[:len(pod.Finalizers):len(pod.Finalizers)], "mine")
	finalizers[0] = "x"
	more := append([]string(nil), pod.Finalizers...)
	more[0] = "x"
	containers := append([]corev1.Container{}, pod.Spec.Containers...)
	containers[0].Image = "x"
	containers[0].Env[0].Name = "x" // want `Env.*Name of an object`
}

func interfaces(lister listers.PodLister) {
	pod, _ := lister.Pods("ns").Get("web")
	var obj metav1.Object = pod
	obj.SetAnnotations(nil)                                            // want `Annotations of an object`
	obj.GetLabels()["a"] = "b"                                         // want `Labels.* of an object`
	pod.GetObjectKind().SetGroupVersionKind(schema.GroupVersionKind{}) // want `of an object of a cache`
	setAny(pod)                                                        // want `Labels of an object .* in a function`
	setAny(pod.DeepCopy())
}

// converted is right: what a Scheme converts stays as it is.
func converted(lister listers.PodLister, scheme *runtime.Scheme) error {
	pod, err := lister.Pods("ns").Get("web")
	if err != nil {
		return err
	}
	return scheme.Convert(pod, &corev1.Pod{}, nil)
}

func setAny(obj metav1.Object) { obj.SetLabels(nil) }

func created(lister listers.PodLister, missing bool) {
	pod, _ := lister.Pods("ns").Get("web")
	if missing {
		pod = &corev1.Pod{}
	}
	pod.Status.Phase = "" // want `Status.Phase of an object`
}

func sameCondition(lister listers.PodLister, write bool) {
	pod, _ := lister.Pods("ns").Get("web")
	if write {
		pod = pod.DeepCopy()
	}
	_ = pod.Name
	if write {
		pod.Status.Phase = ""
	}
	if !write {
		pod.Status.Phase = "" // want `Status.Phase of an object`
	}
}

func copiedInLoop(lister listers.PodLister, n int) {
	pod, _ := lister.Pods("ns").Get("web")
	var mine *corev1.Pod
	for range n {
		if mine == nil {
			mine = pod.DeepCopy()
		}
		mine.Labels["a"] = "b"
	}
}

func ignored(lister listers.PodLister) {
	pod, _ := lister.Pods("ns").Get("web")
	//informervet:ignore this cache has no other reader
	pod.Status.Phase = ""
	pod.Status.Phase = "" //informervet:ignore this cache has no other reader
	//informervet:ignore
	pod.Status.Phase = "" // want `needs a reason`
}

func element(lister listers.PodLister, byName map[string]*corev1.Pod) {
	pods, _ := lister.List(labels.Everything())
	for i, pod := range pods {
		pods[i].Name = "x" // want `Name of an object`
		pods[i] = pod.DeepCopy()
		if pod.Name != "" {
			pods[i].Finalizers = append(pod.Finalizers, "mine")
		}
		byName["a"] = pod
		byName["a"] = pod.DeepCopy()
		byName["a"].Name = "x"
	}
}

type pair struct{ pod *corev1.Pod }

func copiedElements(lister listers.PodLister, byName map[string]*corev1.Pod) {
	pods, _ := lister.List(labels.Everything())
	pods[0] = pods[0].DeepCopy()
	pods[0].Name = "x"
	for i := range pods {
		pods[i] = pods[i].DeepCopy()
		if pods[i].Labels == nil {
			pods[i].Labels = map[string]string{}
		}
		pods[i].Labels["a"] = "b"
		pods[i].Labels["c"] = "d"
		byName["a"] = pods[0]
	}
	for name, pod := range byName {
		byName[name] = pod.DeepCopy()
		byName[name].Labels["a"] = "b"
		byName[name].Labels["c"] = "d"
	}
	func() {
		for i := range pods {
			pods[i] = pods[i].DeepCopy()
			pods[i].Labels["a"] = "b"
		}
	}()
}

func copiedFields(lister listers.PodLister, n int) {
	pods, _ := lister.List(labels.Everything())
	var pairs []pair
	for _, pod := range pods {
		pairs = append(pairs, pair{pod})
	}
	for i := range pairs {
		pairs[i].pod = pairs[i].pod.DeepCopy()
		pairs[i].pod.Labels["a"] = "b"
		pairs[i].pod.Labels["c"] = "d"
		var one pair
		one.pod = pods[i]
		one.copy()
		one.pod.Name = "x"
		other := &pairs[n]
		other.pod = pods[i]
		pairs[i].pod.Name = "x" // want `Name of an object`
	}
	for i := range pods {
		if n > 0 {
			pods[i] = pods[i].DeepCopy()
		}
		pods[i].Name = "x" // want `Name of an object`
	}
}

func (p *pair) copy() { p.pod = p.pod.DeepCopy() }

func filtered(lister listers.PodLister) {
	pods, _ := lister.List(labels.Everything())
	mine, same := pods[:0:0], pods[:1]
	for _, pod := range pods {
		mine = append(mine, pod.DeepCopy())
		same = append(same, pod.DeepCopy())
	}
	mine[0].Name = "x"
	same[0].Name = "x" // want `Name of an object`
}
