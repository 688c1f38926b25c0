package main

import (
	"fmt"
	"iter"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubetyped/informer/typed/view"
)

// Usage is what a namespace uses of a ResourceQuota.
type Usage struct {
	view.Named
	Requests
	Exceeded []string // resources of which more is used than the quota has
}

func (u *Usage) String() string {
	s := fmt.Sprintf("quota %s: %s", u.Key(), u.Requests)
	if len(u.Exceeded) > 0 {
		s += ", too much " + strings.Join(u.Exceeded, ", ")
	}
	return s
}

// usageOf is the Usage of each ResourceQuota.
func usageOf(quotas *view.View[*corev1.ResourceQuota], pods *view.View[*corev1.Pod]) *view.View[*Usage] {
	sums := view.Reduce(pods, view.One(namespaceOfLivePod), requestSum,
		func(namespace string, sum *Requests, _ int) (*requestsOf, bool) {
			return &requestsOf{view.Named{Name: namespace}, copyOf(sum)}, true
		}, view.WithName("requests by namespace"))

	namespaceOf := view.One(func(q *corev1.ResourceQuota) (string, bool) { return q.Namespace, true })
	nameOfSum := view.One(func(sum *requestsOf) (string, bool) { return sum.Name, true })
	return view.JoinOn(quotas, sums, namespaceOf, nameOfSum,
		func(q *corev1.ResourceQuota, sums iter.Seq[*requestsOf]) (*Usage, bool) {
			u := &Usage{Named: view.NamedAs(q)}
			for sum := range sums {
				u.Requests = sum.Requests
			}
			hard := q.Spec.Hard
			if limit, ok := hard[corev1.ResourcePods]; ok && limit.CmpInt64(int64(u.Pods)) < 0 {
				u.Exceeded = append(u.Exceeded, "pods")
			}
			if limit, ok := hard[corev1.ResourceRequestsCPU]; ok && limit.Cmp(u.CPU) < 0 {
				u.Exceeded = append(u.Exceeded, "CPU")
			}
			if limit, ok := hard[corev1.ResourceRequestsMemory]; ok && limit.Cmp(u.Memory) < 0 {
				u.Exceeded = append(u.Exceeded, "memory")
			}
			return u, true
		}, view.WithName("quota"))
}

func namespaceOfLivePod(p *corev1.Pod) (string, bool) { return p.Namespace, alive(p) }
