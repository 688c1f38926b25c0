package rig

import (
	"context"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"

	"github.com/kubetyped/informer/index"
	"github.com/kubetyped/informer/typed"
	"github.com/kubetyped/informer/typed/source"
)

// masked is a source without objects that leaves out what another source does.
type masked struct{ as source.Source[*corev1.Pod] }

func (masked) Run(ctx context.Context, sink source.Sink[*corev1.Pod]) error {
	sink.Replace(source.List{Items: []source.Staged{source.LeaveOut()}}, "1")
	<-ctx.Done()
	return nil
}

func (m masked) Omits(field string) bool { return source.Omits(m.as, field) }

// OpenLater tests an informer of namespaces, of which it gets the first one while it runs: a source
// that leaves out what src does. If need, which needs one of these fields, was called before, Run
// returns an error. If need is called then, need does, and so does each of the others.
func OpenLater(t *testing.T, src source.Source[*corev1.Pod], need func(context.Context, *typed.Informer[*corev1.Pod]) error, others ...func(*typed.Informer[*corev1.Pod]) error) {
	for name, before := range map[string]bool{"needed before": true, "needed later": false} {
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			defer synctest.Wait()
			defer cancel()
			namespaces := source.NewNamespaces()
			pods := typed.NewInformer(source.FromNamespaces(namespaces, func(string) source.Source[*corev1.Pod] {
				return source.FilterMap(source.Source[*corev1.Pod](masked{src}), func(p *corev1.Pod) (*corev1.Pod, bool) { return p, true })
			}))
			ended := make(chan error, 1)
			go func() { ended <- pods.Run(ctx) }()
			synctest.Wait()
			if before {
				assert.NoError(t, need(ctx, pods), name)
			}
			namespaces.Add("shop")
			synctest.Wait()
			if before {
				require.NotEmpty(t, ended, "it continues")
				assert.ErrorContains(t, <-ended, "source omits metadata.")
				return
			}
			assert.ErrorContains(t, need(ctx, pods), "omits", name)
			for _, other := range others {
				assert.Error(t, other(pods))
			}
		})
	}
}

// EndsAtOnce runs an informer in a bubble, and returns the error of Run if that has ended at once.
func EndsAtOnce[T index.Object](ctx context.Context, informer *typed.Informer[T]) error {
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
