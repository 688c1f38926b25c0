package kube_test

import (
	"context"
	"iter"
	"testing"

	"github.com/stretchr/testify/assert"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"

	"github.com/kubetyped/informer/index"
	"github.com/kubetyped/informer/internal/test/rig"
	"github.com/kubetyped/informer/lister"
	"github.com/kubetyped/informer/typed"
	"github.com/kubetyped/informer/typed/control"
	"github.com/kubetyped/informer/typed/kube"
	"github.com/kubetyped/informer/typed/view"
)

// TestFieldsOfSourcesOpenedLater: an informer can learn late that a field is left out, for example
// from a set of namespaces that was empty. Run then returns an error if earlier code needs the
// field, and later code gets its own error. The tests of package adapters do the same in client-go's
// shape.
func TestFieldsOfSourcesOpenedLater(t *testing.T) {
	q := control.AdderFunc[index.Key](func(index.Key) {})
	web := func(*corev1.Pod) labels.Selector { return labels.SelectorFromSet(labels.Set{"app": "web"}) }
	selecting := func(pods typed.Followed[*corev1.Pod]) *view.View[*corev1.Pod] {
		of := view.Filter(view.Of(pods), func(*corev1.Pod) bool { return true })
		return view.JoinSelecting(of, of, web, first)
	}
	byApp := func() index.Definition[*corev1.Pod] { return index.Labels[*corev1.Pod]("app") }
	for name, need := range map[string]func(ctx context.Context, pods *typed.Informer[*corev1.Pod]) error{
		"index": func(_ context.Context, pods *typed.Informer[*corev1.Pod]) error { return pods.AddIndexes(byApp()) },
		"handler": func(_ context.Context, pods *typed.Informer[*corev1.Pod]) error {
			_, err := pods.Handle(control.EnqueueOwner[*corev1.Pod](q, schema.GroupKind{Group: "apps", Kind: "ReplicaSet"}))
			return err
		},
		"view": func(ctx context.Context, pods *typed.Informer[*corev1.Pod]) error {
			return rig.EndsAtOnce(ctx, typed.NewInformer(selecting(pods)))
		},
		"index of a view": func(ctx context.Context, pods *typed.Informer[*corev1.Pod]) error {
			filtered := typed.NewInformer(view.Filter(view.Of(pods), func(*corev1.Pod) bool { return true }))
			if err := filtered.AddIndexes(byApp()); err != nil {
				return err
			}
			return rig.EndsAtOnce(ctx, filtered)
		},
		"view of a view": func(ctx context.Context, pods *typed.Informer[*corev1.Pod]) error {
			united := typed.NewInformer(view.Union(view.Of(pods)))
			if err := rig.EndsAtOnce(ctx, united); err != nil {
				return err
			}
			return rig.EndsAtOnce(ctx, typed.NewInformer(selecting(united)))
		},
	} {
		t.Run(name, func(t *testing.T) {
			rig.OpenLater(t, kube.FromREST[*corev1.Pod](&rest.Config{Host: "http://127.0.0.1:1"}, kube.WithFields("status.phase")), need,
				func(pods *typed.Informer[*corev1.Pod]) error {
					_, err := lister.New(pods).List(web(nil))
					assert.ErrorContains(t, err, "leaves metadata.labels out")
					return err
				})
		})
	}
}

func first(p *corev1.Pod, _ iter.Seq[*corev1.Pod]) (*corev1.Pod, bool) { return p, true }
