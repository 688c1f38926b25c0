// Package knownbugs rebuilds bugs that projects have had, each with its fix. Pod stands for
// the kinds of those projects, and labels, conditions and generations are fields that it has.
package knownbugs

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	listers "k8s.io/client-go/listers/core/v1"
	"k8s.io/client-go/tools/cache"
)

// tilt#3868: a handler corrects the images of a Pod before it sends it on.

type update struct {
	obj     any
	deleted bool
}

func watchPods(informer cache.SharedIndexInformer, ch chan update) {
	informer.AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc: func(obj any) {
			if pod, ok := obj.(*corev1.Pod); ok {
				correctImages(pod) // want `Image of an object of a cache, the handler's object`
			}
			ch <- update{obj: obj}
		},
		UpdateFunc: func(old, updated any) {
			before, ok := old.(*corev1.Pod)
			if !ok {
				return
			}
			pod, ok := updated.(*corev1.Pod)
			if !ok || before == pod {
				return
			}
			correctImages(pod) // want `Image of an object of a cache, the handler's object`
			ch <- update{obj: pod}
		},
		DeleteFunc: func(obj any) {
			if pod, ok := obj.(*corev1.Pod); ok {
				obj = corrected(pod)
			}
			ch <- update{obj: obj, deleted: true}
		},
	})
}

func correctImages(pod *corev1.Pod) {
	wanted := map[string]string{"app": "app:1"}
	for i, c := range pod.Spec.Containers {
		if image, ok := wanted[c.Name]; ok {
			pod.Spec.Containers[i].Image = image
		}
	}
}

func corrected(pod *corev1.Pod) *corev1.Pod {
	pod = pod.DeepCopy()
	correctImages(pod)
	return pod
}

// apisix-ingress-controller#829: what is read from a lister is passed as an interface to
// a function that sets its status, whichever kind it is.

type upstreams struct {
	lister   listers.PodLister
	recorder *recorder
}

type recorder struct{ sent int }

func (u *upstreams) sync(name string) error {
	pod, err := u.lister.Pods("ns").Get(name)
	if err != nil {
		u.recorder.record(pod, err) // want `Finalizers of an object`
		return err
	}
	u.recorder.recordCopy(pod, nil)
	u.recorder.record(pod, nil) // want `Finalizers of an object`
	return nil
}

func (r *recorder) record(at any, err error) {
	reason := "synced"
	if err != nil {
		reason = err.Error()
	}
	switch v := at.(type) {
	case *corev1.PodList:
		v.Items = nil
	case *corev1.Pod:
		if v.Finalizers == nil {
			v.Finalizers = make([]string, 0)
		}
		setCondition(&v.Finalizers, reason)
		r.sent++
	}
}

func (r *recorder) recordCopy(at any, err error) {
	if obj, ok := at.(runtime.Object); ok {
		at = obj.DeepCopyObject()
	}
	r.record(at, err)
}

func setCondition(all *[]string, one string) {
	if !slices.Contains(*all, one) {
		*all = append(*all, one)
	}
}

// service-catalog#1887: a worker reads an instance by its key, and functions far below
// begin to write to it.

type catalog struct {
	lister listers.PodLister
	update func(*corev1.Pod) error
}

func (c *catalog) work(key string) error {
	namespace, name, err := cache.SplitMetaNamespaceKey(key)
	if err != nil {
		return err
	}
	instance, err := c.lister.Pods(namespace).Get(name)
	if err != nil {
		return err
	}
	return c.reconcile(instance) // want `Status.Phase of an object of a cache, PodNamespaceLister.Get`
}

func (c *catalog) reconcile(instance *corev1.Pod) error {
	if begun, err := c.initGeneration(instance); begun || err != nil {
		return err
	}
	if begun, err := c.initGenerationOfCopy(instance); begun || err != nil {
		return err
	}
	return nil
}

func (c *catalog) initGeneration(instance *corev1.Pod) (bool, error) {
	if instance.Status.Phase != "" {
		return false, nil
	}
	instance.Status.Phase = "Pending"
	return true, c.update(instance)
}

func (c *catalog) initGenerationOfCopy(instance *corev1.Pod) (bool, error) {
	if instance.Spec.NodeName != "" {
		return false, nil
	}
	instance = instance.DeepCopy()
	instance.Spec.NodeName = "node"
	return true, c.update(instance)
}

// kubernetes#27687, as kubernetes#35633: a controller lists objects of its cache, keeps some
// in another list, and labels those with a hash.

type deployments struct {
	lister listers.PodLister
	update func(*corev1.Pod) error
}

func (d *deployments) list(owner string) (owned []*corev1.Pod, err error) {
	all, err := d.lister.List(labels.Everything())
	if err != nil {
		return nil, err
	}
	for _, one := range all {
		if one.Annotations["owner"] == owner {
			owned = append(owned, one)
		}
	}
	return owned, nil
}

func (d *deployments) sync(owner string) error {
	owned, err := d.list(owner)
	if err != nil {
		return err
	}
	if err := d.labelAll(owned, "hash"); err != nil { // want `Labels of an object of a cache, PodLister.List`
		return err
	}
	for _, one := range owned {
		mine := one.DeepCopy()
		addLabel(mine, "hash")
	}
	return nil
}

func (d *deployments) labelAll(all []*corev1.Pod, hash string) error {
	for _, one := range all {
		addLabel(one, hash)
		if err := d.update(one); err != nil {
			return err
		}
	}
	return nil
}

func addLabel(obj metav1.Object, hash string) { obj.SetLabels(map[string]string{"hash": hash}) }

// karmada#6544: an object of a dynamic lister is converted, which shares its map, and
// claimed.

func toUnstructured(obj any) (*unstructured.Unstructured, error) {
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(obj)
	if err != nil {
		return nil, err
	}
	return &unstructured.Unstructured{Object: content}, nil
}

func find(lister cache.GenericLister, key string) (*unstructured.Unstructured, error) {
	object, err := lister.Get(key)
	if err != nil {
		return nil, err
	}
	return toUnstructured(object)
}

func apply(lister cache.GenericLister, pods listers.PodLister, key string) error {
	object, err := find(lister, key)
	if err != nil {
		return err
	}
	claim(object.DeepCopy())
	claim(object) // want `Object.* of an object of a cache, GenericLister.Get`
	pod, err := pods.Pods("ns").Get(key)
	if err != nil {
		return err
	}
	converted, err := toUnstructured(pod)
	if err != nil {
		return err
	}
	claim(converted)
	claimAny(converted)
	claimAny(object.DeepCopy())
	claimAny(object) // want `an element of an object of a cache, GenericLister.Get|Object.* of an object`
	return nil
}

func claimAny(obj metav1.Object) { obj.SetLabels(map[string]string{"policy": "mine"}) }

func claim(obj *unstructured.Unstructured) {
	claimed := obj.GetLabels()
	claimed["policy"] = "mine"
	obj.SetLabels(claimed)
}
