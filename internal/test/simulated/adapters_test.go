package simulated_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"

	"github.com/kubetyped/informer/adapters"
	"github.com/kubetyped/informer/apitest/history"
	"github.com/kubetyped/informer/apitest/simulation"
)

// newShared is cache.NewSharedIndexInformerWithOptions, or what takes its place.
type newShared func(lw cache.ListerWatcher, options cache.SharedIndexInformerOptions) cache.SharedIndexInformer

// shared defines a simulation of a cache.SharedIndexInformer.
func shared(of newShared) func(*simulation.Simulation) {
	return func(s *simulation.Simulation) {
		s.Start("informer", func(ctx context.Context, config *rest.Config) error {
			client, err := kubernetes.NewForConfig(config)
			if err != nil {
				return err
			}
			informer := of(cache.NewListWatchFromClient(client.CoreV1().RESTClient(), "pods", "", fields.Everything()), cache.SharedIndexInformerOptions{})
			if err := toldAll(ctx, informer, "the handler", 0); err != nil {
				return err
			}
			simulation.Eventually(ctx, "the store has what the server has", goal, func(now simulation.State) error {
				var pods []*corev1.Pod
				for _, obj := range informer.GetStore().List() {
					pods = append(pods, obj.(*corev1.Pod))
				}
				return sameAsServer(now, "the store", pods)
			})
			group, ctx := errgroup.WithContext(ctx)
			group.Go(func() error {
				informer.RunWithContext(ctx)
				return nil
			})
			group.Go(func() error {
				random := simulation.Random(ctx)
				for n := 0; n < 5 && sleep(ctx, time.Duration(random.Int64N(int64(3*time.Minute)))); n++ {
					resync := []time.Duration{0, time.Second, 20 * time.Second}[random.IntN(3)]
					if err := toldAll(ctx, informer, fmt.Sprint("late handler ", n), resync); err != nil && ctx.Err() == nil {
						return err
					}
				}
				return nil
			})
			return group.Wait()
		})
		s.Do(writePods)
	}
}

// toldAll adds a handler that stays.
func toldAll(ctx context.Context, informer cache.SharedIndexInformer, name string, resync time.Duration) error {
	told := history.New[*corev1.Pod]()
	if _, err := informer.AddEventHandlerWithResyncPeriod(adapters.ResourceEventHandler(told), resync); err != nil {
		return err
	}
	simulation.Always(ctx, name+" is told in order", func(now simulation.State) error {
		return errors.Join(told.Err(), differences(told.Undead(simulation.Objects[*corev1.Pod](now))))
	})
	simulation.Eventually(ctx, name+" knows all", goal, func(now simulation.State) error {
		return sameAsServer(now, name, told.Objects())
	})
	return nil
}

// TestSharedIndexInformer: an informer of ours in the shape of client-go's.
func TestSharedIndexInformer(t *testing.T) {
	simulation.Run(t, shared(func(lw cache.ListerWatcher, options cache.SharedIndexInformerOptions) cache.SharedIndexInformer {
		return adapters.NewSharedIndexInformerWithOptions(lw, &corev1.Pod{}, options)
	}))
}

// TestClientGoSharedIndexInformer is the same of client-go's own. It logs the failures with the
// same seeds, which are not failures of this module.
func TestClientGoSharedIndexInformer(t *testing.T) {
	found := simulation.Find(t, 20, shared(func(lw cache.ListerWatcher, options cache.SharedIndexInformerOptions) cache.SharedIndexInformer {
		return cache.NewSharedIndexInformerWithOptions(lw, &corev1.Pod{}, options)
	}))
	t.Log("client-go: ", found)
}
