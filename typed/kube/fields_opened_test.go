package kube_test

import (
	"context"
	"iter"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
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
			return begin(ctx, typed.NewInformer(selecting(pods)))
		},
		"index of a view": func(ctx context.Context, pods *typed.Informer[*corev1.Pod]) error {
			filtered := typed.NewInformer(view.Filter(view.Of(pods), func(*corev1.Pod) bool { return true }))
			if err := filtered.AddIndexes(byApp()); err != nil {
				return err
			}
			return begin(ctx, filtered)
		},
		"view of a view": func(ctx context.Context, pods *typed.Informer[*corev1.Pod]) error {
			united := typed.NewInformer(view.Union(view.Of(pods)))
			if err := begin(ctx, united); err != nil {
				return err
			}
			return begin(ctx, typed.NewInformer(selecting(united)))
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				for _, before := range []bool{true, false} {
					ctx, cancel := context.WithCancel(t.Context())
					namespaces := source.NewNamespaces()
					pods := typed.NewInformer(source.FromNamespaces(namespaces, func(string) source.Source[*corev1.Pod] {
						return source.FilterMap(source.Source[*corev1.Pod](masked{}), func(p *corev1.Pod) (*corev1.Pod, bool) { return p, true })
					}))
					ended := make(chan error, 1)
					go func() { ended <- pods.Run(ctx) }()
					synctest.Wait()
					if before {
						assert.NoError(t, need(ctx, pods))
					}
					namespaces.Add("shop")
					synctest.Wait()
					if before {
						require.NotEmpty(t, ended, "it goes on")
						assert.ErrorContains(t, <-ended, "source omits metadata.")
					} else {
						assert.ErrorContains(t, need(ctx, pods), "omits")
						_, err := lister.New(pods).List(web(nil))
						assert.ErrorContains(t, err, "leaves metadata.labels out")
					}
					cancel()
					synctest.Wait()
				}
			})
		})
	}
}

func first(p *corev1.Pod, _ iter.Seq[*corev1.Pod]) (*corev1.Pod, bool) { return p, true }

// begin runs an informer, and returns the error of Run if it has ended at once.
func begin(ctx context.Context, informer *typed.Informer[*corev1.Pod]) error {
	ended := make(chan error, 1)
	go func() { ended <- informer.Run(ctx) }()
	synctest.Wait()
	select {
	case err := <-ended:
		return err
	default:
		return nil
	}
}

// masked is a source without objects that leaves out what one of FromREST with WithFields does.
type masked struct{}

func (masked) Run(ctx context.Context, sink source.Sink[*corev1.Pod]) error {
	sink.Replace(source.List{Items: []source.Staged{source.LeaveOut()}}, "1")
	<-ctx.Done()
	return nil
}

func (masked) Omits(field string) bool {
	return source.Omits(kube.FromREST[*corev1.Pod](&rest.Config{Host: "http://127.0.0.1:1"}, kube.WithFields("status.phase")), field)
}
