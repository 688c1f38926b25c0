package kube_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"

	"github.com/kubetyped/informer/index"
	"github.com/kubetyped/informer/lister"
	"github.com/kubetyped/informer/typed"
	"github.com/kubetyped/informer/typed/control"
	"github.com/kubetyped/informer/typed/kube"
	"github.com/kubetyped/informer/typed/source"
)

// TestFieldsThatOthersNeed: code that needs a field which the source leaves out gets an error.
func TestFieldsThatOthersNeed(t *testing.T) {
	config := &rest.Config{Host: "http://127.0.0.1:1"}
	q := control.AdderFunc[index.Key](func(index.Key) {})
	owners := func() typed.Handler[*corev1.Pod] {
		return control.Filter(control.EnqueueOwner[*corev1.Pod](q, schema.GroupKind{Group: "apps", Kind: "ReplicaSet"}), func(*corev1.Pod) bool { return true })
	}
	web := labels.SelectorFromSet(labels.Set{"app": "web"})
	for name, opt := range map[string]kube.SourceOption{
		"with":    kube.WithFields("status.phase"),
		"without": kube.WithoutFields("metadata.labels", "metadata.ownerReferences"),
	} {
		t.Run(name, func(t *testing.T) {
			pods := typed.NewInformer(source.FilterMap(kube.FromREST[*corev1.Pod](config, opt), func(p *corev1.Pod) (*corev1.Pod, bool) { return p, true }))
			assert.ErrorContains(t, pods.AddIndexes(index.Labels[*corev1.Pod]("app")), "the informer's source omits metadata.labels")
			_, err := pods.Handle(owners())
			assert.ErrorContains(t, err, "omits metadata.ownerReferences")
			_, err = lister.New(pods).List(web)
			assert.ErrorContains(t, err, "leaves metadata.labels out")
			assert.Panics(t, func() { lister.New(pods).All(web) })
			_, err = lister.New(pods).List(labels.Everything())
			assert.NoError(t, err)
		})
	}
	for name, opt := range map[string]kube.SourceOption{
		"named":   kube.WithFields("metadata.labels", "metadata.ownerReferences"),
		"partly":  kube.WithFields("metadata.labels.app", "metadata.ownerReferences.name"),
		"another": kube.WithoutFields("metadata.managedFields"),
	} {
		t.Run(name, func(t *testing.T) {
			pods := typed.NewInformer(kube.FromREST[*corev1.Pod](config, opt))
			assert.NoError(t, pods.AddIndexes(index.Labels[*corev1.Pod]("app")))
			_, err := pods.Handle(owners())
			assert.NoError(t, err)
			_, err = lister.New(pods).List(web)
			assert.NoError(t, err)
		})
	}
}
