package mutation

import (
	"mutation/helpers"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"
	listers "k8s.io/client-go/listers/core/v1"
)

type controller struct {
	lister listers.PodLister
	writer setter
	fake   fakeable
}

// setter has one implementation.
type setter interface{ set(pod *corev1.Pod) }

type labelSetter struct{}

func (labelSetter) set(pod *corev1.Pod) { five(pod) }

// fakeable has one that writes nothing.
type fakeable interface{ apply(pod *corev1.Pod) }

type applier struct{}

func (applier) apply(pod *corev1.Pod) { pod.Labels["a"] = "b" }

type fake struct{ seen []string }

func (f *fake) apply(pod *corev1.Pod) { f.seen = append(f.seen, pod.Name) }

func five(pod *corev1.Pod)    { four(pod) }
func four(pod *corev1.Pod)    { three(&pod.Spec) }
func three(s *corev1.PodSpec) { two(s.Containers) }
func two(c []corev1.Container) {
	for i := range c {
		one(&c[i])
	}
}
func one(c *corev1.Container) { c.Image = "x" }

func (c *controller) deep() {
	pod, _ := c.lister.Pods("ns").Get("web")
	five(pod)         // want `Spec.Containers.*Image of an object .* in a function that is called here`
	c.writer.set(pod) // want `Spec.Containers.*Image of an object`
	c.fake.apply(pod)
	five(pod.DeepCopy())
	c.writer.set(pod.DeepCopy())
	mine := *pod
	setNode(&mine)
	helpers.SetLabel(&mine, "a", "b") // want `Labels.* of an object`
}

func setNode(pod *corev1.Pod) { pod.Spec.NodeName = "node" }

func (c *controller) get() *corev1.Pod {
	pod, err := c.lister.Pods("ns").Get("web")
	if err != nil {
		return nil
	}
	return pod
}

func (c *controller) fresh() *corev1.Pod { return c.get().DeepCopy() }

func (c *controller) results() {
	c.get().Labels["a"] = "b" // want `Labels.* of an object of a cache, PodNamespaceLister.Get`
	c.fresh().Labels["a"] = "b"
	for _, pod := range helpers.Filter(c.all()) {
		pod.Status.Phase = "" // want `Status.Phase of an object`
	}
	mine := helpers.Shallow(c.get())
	mine.Name = "x"
	mine.Labels["a"] = "b"           // want `Labels.* of an object`
	helpers.SetLabel(mine, "a", "b") // want `Labels.* of an object`
	mine.Labels["a"] = "b"           // want `Labels.* of an object`
	helpers.EnsureLabels(mine)
	mine.Labels["a"] = "b"
}

func (c *controller) all() []*corev1.Pod {
	pods, _ := c.lister.List(labels.Everything())
	return pods
}

func (c *controller) closures(write func(*corev1.Pod)) {
	pod, _ := c.lister.Pods("ns").Get("web")
	func() {
		pod.Status.Phase = "" // want `Status.Phase of an object`
	}()
	retry(func() error {
		pod.Status.Phase = "" // want `Status.Phase of an object`
		return nil
	})
	mine := pod.DeepCopy()
	retry(func() error {
		mine.Status.Phase = ""
		return nil
	})
	set := five
	set(pod) // want `Containers.*Image of an object`
	method := labelSetter{}.set
	method(pod)     // want `Containers.*Image of an object`
	defer five(pod) // want `Containers.*Image of an object`
	go five(pod)    // want `Containers.*Image of an object`
	write(pod)
	helpers.Each(c.all(), func(pod *corev1.Pod) {
		pod.Labels["a"] = "b" // want `Labels.* of an object`
	})
	helpers.Each([]*corev1.Pod{mine}, func(pod *corev1.Pod) {
		pod.Labels["a"] = "b"
	})
	helpers.Set(pod, "x")             // want `Name of an object`
	helpers.First(c.all()).Name = "x" // want `Name of an object`
}

func retry(f func() error) { _ = f() }

func recursive(pod *corev1.Pod, n int) {
	if n == 0 {
		pod.Labels["a"] = "b"
		return
	}
	other(pod, n-1)
}

func other(pod *corev1.Pod, n int) { recursive(pod, n) }

func (c *controller) recursion() {
	other(c.get(), 3) // want `Labels.* of an object`
}

// best returns nil or a copy.
func (c *controller) best() (best *corev1.Pod) {
	for _, pod := range c.all() {
		if best == nil || pod.Name < best.Name {
			best = pod
		}
	}
	if best != nil {
		best = best.DeepCopy()
	}
	return best
}

func (c *controller) copiedUnlessNil() { five(c.best()) }

// fields are set once.
type fields struct {
	write  func(*corev1.Pod)
	either func(*corev1.Pod)
	apply  fakeable
	all    func() []*corev1.Pod
}

func newFields(c *controller) *fields {
	f := &fields{write: five, either: five, apply: applier{}}
	f.either = func(*corev1.Pod) {}
	f.all = func() []*corev1.Pod { return c.all() }
	return f
}

func (f *fields) call(lister listers.PodLister) {
	pod, _ := lister.Pods("ns").Get("web")
	f.write(pod) // want `Containers.*Image of an object`
	f.either(pod)
	f.apply.apply(pod) // want `Labels.* of an object`
	for _, pod := range f.all() {
		pod.Name = "x" // want `Name of an object`
	}
}

func (c *controller) constants(name string, copied bool) {
	pod := c.get()
	helpers.Added(pod.Labels, "a", "b")["c"] = "d"
	helpers.Added(pod.Labels, "", "b")["c"] = "d"   // want `Labels.* of an object`
	helpers.Added(pod.Labels, name, "b")["c"] = "d" // want `Labels.* of an object`
	helpers.Named(pod, "x", true).Labels["a"] = "b"
	helpers.Named(pod, "x", false)  // want `Name of an object`
	helpers.Named(pod, "x", copied) // want `Name of an object`
	helpers.Moved(pod, "node", true)
	helpers.Moved(pod, "", false)
	helpers.Moved(pod, "node", false) // want `Spec.NodeName of an object`
}
