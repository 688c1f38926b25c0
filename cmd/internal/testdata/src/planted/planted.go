// Package planted contains writes that are reached in roundabout ways, each with a twin
// that is right.
package planted

import (
	"planted/impl"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"
	listers "k8s.io/client-go/listers/core/v1"
	"k8s.io/client-go/tools/cache"
)

type controller struct {
	pods   listers.PodLister
	writer impl.Writer
	copier impl.Copier
	local  stage
	hook   func(*corev1.Pod)
}

func newController(pods listers.PodLister) *controller {
	c := &controller{pods: pods, writer: impl.New(), copier: impl.NewCopier(), local: firstStage{secondStage{}}}
	c.hook = c.label
	return c
}

func (c *controller) pod() *corev1.Pod {
	pod, err := c.pods.Pods("ns").Get("web")
	if err != nil {
		return nil
	}
	return pod
}

// Five calls deep, over another package.

func (c *controller) deep()       { c.one(c.pod()) } // want `Image of an object`
func (c *controller) deepCopied() { c.one(c.pod().DeepCopy()) }

func (c *controller) one(pod *corev1.Pod)    { two(pod) }
func two(pod *corev1.Pod)                    { three(pod, &pod.Spec) }
func three(_ *corev1.Pod, s *corev1.PodSpec) { four(s.Containers[0:]) }
func four(all []corev1.Container) {
	for i := range all {
		five(&all[i])
	}
}
func five(c *corev1.Container) { impl.Change(c, func(c *corev1.Container) { c.Image = "x" }) }

// Behind interfaces with one implementation.

func (c *controller) behind() {
	c.writer.Write(c.pod()) // want `Image of an object`
	c.writer.Write(c.pod().DeepCopy())
	c.copier.Copy(c.pod()).Name = "x"
	impl.New().Write(c.pod()) // want `Image of an object`
}

func behindParameter(w impl.Writer, pods listers.PodLister) {
	for _, pod := range must(pods.List(labels.Everything())) {
		w.Write(pod) // want `Image of an object`
		w.Write(pod.DeepCopy())
	}
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

type stage interface{ run(pod *corev1.Pod) error }

type firstStage struct{ next secondStage }

func (s firstStage) run(pod *corev1.Pod) error { return s.next.run(pod) }

type secondStage struct{}

func (secondStage) run(pod *corev1.Pod) error {
	pod.Status.Phase = "Running"
	return nil
}

func (c *controller) stages() error {
	if err := c.local.run(c.pod().DeepCopy()); err != nil {
		return err
	}
	return c.local.run(c.pod()) // want `Status.Phase of an object`
}

// Closures.

func (c *controller) closures() {
	pod := c.pod()
	set := func() { pod.Labels["a"] = "b" } // want `Labels.* of an object`
	again := func() { set() }
	again()
	var visit func(n int, pod *corev1.Pod)
	visit = func(n int, pod *corev1.Pod) {
		if n > 0 {
			visit(n-1, pod)
			return
		}
		pod.Labels["a"] = "b" // want `Labels.* of an object`
	}
	visit(3, pod)
	either := func() {}
	if pod.Name == "" {
		either = func() { pod.Labels["a"] = "b" }
	}
	func() { either() }()
	mine := pod.DeepCopy()
	setMine := func() { mine.Labels["a"] = "b" }
	func() { setMine() }()
	maker := func(name string) func(*corev1.Pod) {
		return func(pod *corev1.Pod) { pod.Labels["a"] = name } // want `Labels.* of an object`
	}
	maker("b")(pod)
	maker("b")(mine)
	impl.Tree(3, pod, func(pod *corev1.Pod) { pod.Name = "x" }) // want `Name of an object`
	impl.Tree(3, mine, func(pod *corev1.Pod) { pod.Name = "x" })
	writes := []func(*corev1.Pod){two, four2}
	for _, write := range writes {
		write(mine)
	}
	defer func() {
		pod.Annotations["done"] = "true" // want `Annotations.* of an object`
	}()
	go func(pod *corev1.Pod) {
		pod.Name = "x" // want `Name of an object`
	}(pod)
	go func(pod *corev1.Pod) { pod.Name = "x" }(mine)
}

func four2(pod *corev1.Pod) { four(pod.Spec.Containers) }

// Method values.

func (c *controller) label(pod *corev1.Pod) { impl.Exported{}.Label(pod) }

func (c *controller) methodValues() {
	pod, mine := c.pod(), c.pod().DeepCopy()
	write := c.label
	write(pod) // want `Labels.* of an object`
	write(mine)
	expression := (*controller).label
	expression(c, pod) // want `Labels.* of an object`
	expression(c, mine)
	apply(c.label, pod) // want `Labels.* of an object`
	apply(c.label, mine)
	apply(impl.Exported{}.Label, pod) // want `Labels.* of an object`
	apply(impl.Exported{}.Label, mine)
	c.hook(pod) // want `Labels.* of an object`
	c.hook(mine)
	w := c.writer.Write
	w(pod) // want `Image of an object`
	w(mine)
}

func apply(f func(*corev1.Pod), pod *corev1.Pod) { f(pod) }

// Generics.

type labelled interface {
	*corev1.Pod
	SetLabels(map[string]string)
}

func setLabels[T labelled](obj T) { obj.SetLabels(nil) }

func change[T any](obj T, by func(T)) T {
	by(obj)
	return obj
}

type store[T any] struct{ get func() T }

func (s store[T]) with(f func(T)) { f(s.get()) }

func (c *controller) generics() {
	pod, mine := c.pod(), c.pod().DeepCopy()
	setLabels(pod) // want `Labels of an object`
	setLabels(mine)
	change(pod, func(pod *corev1.Pod) { pod.Name = "x" }) // want `Name of an object`
	change(mine, func(pod *corev1.Pod) { pod.Name = "x" })
	change(pod, func(*corev1.Pod) {}).Name = "x" // want `Name of an object`
	change(mine, func(*corev1.Pod) {}).Name = "x"
	impl.Put(pod).Get().Name = "x" // want `Name of an object`
	impl.Put(mine).Get().Name = "x"
	impl.Put(pod).Update(func(pod *corev1.Pod) { pod.Name = "x" }) // want `Name of an object`
	impl.Put(mine).Update(func(pod *corev1.Pod) { pod.Name = "x" })
	for _, spec := range impl.Map([]*corev1.Pod{pod}, func(pod *corev1.Pod) *corev1.PodSpec { return &pod.DeepCopy().Spec }) {
		spec.NodeName = "node"
	}
	store[*corev1.Pod]{c.pod}.with(func(pod *corev1.Pod) { pod.Name = "x" }) // want `Name of an object`
}

// Handlers that pass their objects on.

func (c *controller) register(informer cache.SharedIndexInformer) {
	informer.AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc:    c.added,
		UpdateFunc: func(_, obj any) { c.added(obj) },
		DeleteFunc: func(obj any) {
			if pod, ok := obj.(*corev1.Pod); ok {
				c.one(pod.DeepCopy())
			}
		},
	})
}

func (c *controller) added(obj any) {
	if pod, ok := obj.(*corev1.Pod); ok {
		c.one(pod) // want `Image of an object`
	}
}
