package peers

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/internalversion"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubetyped/informer/benchmarks/internal/cluster"
)

// source is what a cache lists and watches: a feed that answers the first
// request for a list by itself.
type source struct {
	*cluster.Feed
}

func newSource(pods []*corev1.Pod) *source {
	s := &source{cluster.NewFeed()}
	go s.Answer(cluster.ListOf(pods, "1"), func() {})
	return s
}

// podList is List with the type of list that clients for Pods return.
func (s *source) podList(opts metav1.ListOptions) (*corev1.PodList, error) {
	answer, err := s.List(opts)
	if err != nil {
		return nil, err
	}
	items := answer.(*internalversion.List).Items
	list := &corev1.PodList{ListMeta: metav1.ListMeta{ResourceVersion: "1"}, Items: make([]corev1.Pod, len(items))}
	for i, item := range items {
		list.Items[i] = *item.(*corev1.Pod)
	}
	return list, nil
}
