package kube_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	corev1 "k8s.io/api/core/v1"
	typedcorev1 "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/tools/cache"

	"github.com/kubetyped/informer/typed"
	"github.com/kubetyped/informer/typed/kube"
)

// TestBadInput makes every mistake that arguments of sources allow.
func TestBadInput(t *testing.T) {
	for name, informer := range map[string]*typed.Informer[*corev1.Pod]{
		"client is nil":                      typed.NewInformer(kube.FromClient(typedcorev1.PodInterface(nil))),
		"ListerWatcher is nil":               typed.NewInformer(kube.FromListerWatcher[*corev1.Pod](nil)),
		"source option is nil":               typed.NewInformer(kube.FromListerWatcher[*corev1.Pod](&cache.ListWatch{}, nil)),
		"WithLabelSelector: selector is nil": typed.NewInformer(kube.FromListerWatcher[*corev1.Pod](&cache.ListWatch{}, kube.WithLabelSelector(nil))),
		"WithFieldSelector: selector is nil": typed.NewInformer(kube.FromListerWatcher[*corev1.Pod](&cache.ListWatch{}, kube.WithFieldSelector(nil))),
	} {
		err := informer.Run(t.Context())
		assert.ErrorContains(t, err, name)
		assert.ErrorContains(t, err, "*v1.Pod", "names the informer")
		assert.ErrorContains(t, informer.WaitForSync(t.Context()), name)
	}
}
