package mutation

import (
	corev1 "k8s.io/api/core/v1"
	listers "k8s.io/client-go/listers/core/v1"
)

// labelled returns the Pod, or a copy and true.
func labelled(pod *corev1.Pod) (*corev1.Pod, bool) {
	if pod.Labels != nil {
		return pod, false
	}
	pod = pod.DeepCopy()
	pod.Labels = map[string]string{}
	return pod, true
}

// placed is the same with a variable for the flag.
func placed(pod *corev1.Pod) (*corev1.Pod, bool) {
	changed := false
	if pod.Spec.NodeName == "" {
		pod = pod.DeepCopy()
		pod.Spec.NodeName = "node"
		changed = true
	}
	return pod, changed
}

// tagged copies the Pod once.
func tagged(pod *corev1.Pod) (changed bool, out *corev1.Pod) {
	out = pod
	for i := range pod.Spec.Containers {
		if pod.Spec.Containers[i].Image == "" {
			if !changed {
				out = pod.DeepCopy()
				changed = true
			}
			out.Spec.Containers[i].Image = "x"
		}
	}
	return changed, out
}

// renamed returns the opposite flag, and writes to the Pod itself.
func renamed(pod *corev1.Pod) (_ *corev1.Pod, same bool) {
	out, changed := labelled(pod)
	if !changed {
		out.Name = "x"
	}
	return out, !changed
}

func flags(lister listers.PodLister) {
	pod, _ := lister.Pods("ns").Get("web")
	if mine, changed := labelled(pod); changed {
		mine.Name = "x"
	}
	mine, changed := placed(pod)
	if changed {
		mine.Name = "x"
	} else {
		mine.Name = "x" // want `Name of an object`
	}
	changed, mine = tagged(pod)
	if !changed {
		return
	}
	mine.Name = "x"
	mine, _ = labelled(pod)
	mine.Name = "x"            // want `Name of an object`
	mine, same := renamed(pod) // want `Name of an object .* in a function`
	if !same {
		mine.Name = "x"
	}
	if same {
		mine.Name = "y" // want `Name of an object`
	}
}

func flagInLoop(lister listers.PodLister, names []string) {
	var mine *corev1.Pod
	changed := false
	for _, name := range names {
		if changed {
			mine.Name = name // want `Name of an object`
		}
		pod, _ := lister.Pods("ns").Get(name)
		mine, changed = labelled(pod)
		if name == "" {
			changed = true
		}
	}
}
