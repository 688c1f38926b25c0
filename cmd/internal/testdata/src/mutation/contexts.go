package mutation

import (
	"log"

	corev1 "k8s.io/api/core/v1"
	listers "k8s.io/client-go/listers/core/v1"
)

// visit keeps the object of one call of sync.
type visit struct {
	pod    *corev1.Pod
	status *corev1.PodStatus
	byName map[string]*corev1.Pod
	later  func(obj any)
	mine   *corev1.Pod
}

func newVisit(pod *corev1.Pod, byName map[string]*corev1.Pod, later func(obj any)) *visit {
	v := visit{pod: pod, status: &pod.Status, byName: byName, later: later, mine: pod.DeepCopy()}
	return &v
}

func (v *visit) run() *corev1.PodStatus {
	v.fill()
	v.later(v.pod)
	return v.status
}

func (v *visit) fill() { v.status.Phase = "Running" }

func (v *visit) name() { nameOf(v.pod) }

func nameOf(pod *corev1.Pod) { pod.Name = "x" }

func (v *visit) all() {
	pod := v.byName["a"]
	pod.Name = "x"
}

func (v *visit) own() { nameOf(v.mine) }

func visitAll(lister listers.PodLister, later func(obj any)) error {
	pod, err := lister.Pods("ns").Get("web")
	if err != nil {
		return err
	}
	defer func() { log.Println(pod.Name) }()
	byName, err := group(lister, pod)
	if err != nil {
		return err
	}
	v := newVisit(pod, byName, later)
	v.run()  // want `Status.Phase of an object`
	v.name() // want `Name of an object`
	v.all()  // want `Name of an object`
	v.own()
	return nil
}

func group(lister listers.PodLister, by *corev1.Pod) (map[string]*corev1.Pod, error) {
	pods, err := lister.Pods("ns").List(nil)
	if err != nil {
		return nil, err
	}
	out := map[string]*corev1.Pod{}
	for _, pod := range pods {
		if pod.Name != by.Name {
			out[pod.Name] = pod
		}
	}
	return out, nil
}
