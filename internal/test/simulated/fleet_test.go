package simulated_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/rest"

	"github.com/kubetyped/informer/apitest/history"
	"github.com/kubetyped/informer/apitest/simulation"
	"github.com/kubetyped/informer/typed"
	"github.com/kubetyped/informer/typed/fleet"
	"github.com/kubetyped/informer/typed/kube"
	"github.com/kubetyped/informer/typed/source"
)

// TestFleets: an informer over clusters, each with its own connections, which leave, come back
// and change, delivers every event in order, takes no object for deleted, and in the end has the
// objects of each cluster. The server is the same one, with all its faults.
func TestFleets(t *testing.T) { simulation.Run(t, defineFleets) }

// fleetOf is an informer over clusters that checks look at.
type fleetOf struct {
	*typed.Informer[fleet.InCluster[*corev1.Pod]]
	clusters *fleet.Clusters
	source   *fleet.Source[*corev1.Pod]

	mu        sync.Mutex
	histories map[string]*history.History[fleet.InCluster[*corev1.Pod]] // guarded by mu
}

func defineFleets(s *simulation.Simulation) {
	calm := time.Now().Add(longest)
	s.Start("fleet", func(ctx context.Context, config *rest.Config) error {
		random := simulation.Random(ctx)
		var opts []fleet.Option
		if random.IntN(2) == 0 {
			opts = append(opts, fleet.WithExpiry(time.Minute))
		}
		f := &fleetOf{clusters: &fleet.Clusters{}, histories: map[string]*history.History[fleet.InCluster[*corev1.Pod]]{}}
		names := []string{"east", "north", "west"}
		for _, name := range names {
			f.histories[name] = history.New[fleet.InCluster[*corev1.Pod]]()
			if err := f.clusters.Put(fleet.Cluster{Name: name, Config: rest.CopyConfig(config)}); err != nil {
				return err
			}
		}
		f.source = fleet.NewSource(f.clusters, func(c fleet.Cluster) source.Source[*corev1.Pod] { return kube.FromREST[*corev1.Pod](c.Config) }, opts...)
		f.Informer = typed.NewInformer(f.source)
		for _, name := range names {
			simulation.Eventually(ctx, "the informer has what the cluster "+name+" has", goal, func(now simulation.State) error {
				return f.compare(now, name)
			})
		}
		var others sync.WaitGroup
		defer others.Wait()
		others.Go(func() { f.record(ctx) })
		others.Go(func() { f.change(ctx, random, config, names, calm) })
		return f.Run(ctx)
	})
	s.Do(writeManyPods)
}

// record keeps the informer's events of each cluster.
func (f *fleetOf) record(ctx context.Context) {
	for e := range f.Events(ctx).All() {
		f.mu.Lock()
		f.histories[e.New.Cluster()].Record(e)
		f.mu.Unlock()
	}
}

// change removes clusters, adds them again and changes them until it is calm, when all are
// there.
func (f *fleetOf) change(ctx context.Context, random *rand.Rand, config *rest.Config, names []string, calm time.Time) {
	for time.Now().Before(calm) {
		select {
		case <-time.After(time.Duration(random.IntN(120)) * time.Second):
		case <-ctx.Done():
			return
		}
		name := names[random.IntN(len(names))]
		if random.IntN(2) == 0 {
			f.clusters.Remove(name)
		} else {
			_ = f.clusters.Put(fleet.Cluster{Name: name, Config: rest.CopyConfig(config)}) // its name can be used
		}
	}
	for _, name := range names {
		if _, ok := f.clusters.Get(name); !ok {
			_ = f.clusters.Put(fleet.Cluster{Name: name, Config: rest.CopyConfig(config)})
		}
	}
}

// compare compares the informer's objects of a cluster, and its events, with the server.
func (f *fleetOf) compare(now simulation.State, name string) error {
	var have []*corev1.Pod
	for pod := range f.All() {
		if pod.Cluster() == name {
			have = append(have, pod.Object)
		}
	}
	if err := sameAsServer(now, "the informer", have); err != nil {
		return err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if err := f.histories[name].Err(); err != nil {
		return fmt.Errorf("cluster %s: %w", name, err)
	}
	return nil
}
