package simulated_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"testing"

	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"

	"github.com/kubetyped/informer/apitest/history"
	"github.com/kubetyped/informer/apitest/simulation"
	"github.com/kubetyped/informer/index"
	"github.com/kubetyped/informer/typed"
	"github.com/kubetyped/informer/typed/fleet"
	"github.com/kubetyped/informer/typed/kube"
	"github.com/kubetyped/informer/typed/shard"
	"github.com/kubetyped/informer/typed/source"
	"github.com/kubetyped/informer/typed/view"
)

// podOf is a Pod of a cluster.
type podOf = fleet.InCluster[*corev1.Pod]

// withGroup is a source that runs its group while it runs itself.
type withGroup struct {
	*shard.Source[*corev1.Pod]
	group *shard.Group
}

func (s withGroup) Run(ctx context.Context, sink source.Sink[*corev1.Pod]) error {
	both, ctx := errgroup.WithContext(ctx)
	both.Go(func() error { return s.group.Run(ctx) })
	both.Go(func() error { return s.Source.Run(ctx, sink) })
	return both.Wait()
}

// views are those of the processes that live, by the name of the process.
type views struct {
	mu sync.Mutex
	of map[string]*typed.Informer[podOf] // guarded by mu
}

func (v *views) set(process string, informer *typed.Informer[podOf]) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.of[process] = informer
}

// compare compares what all have of a cluster with the server: each object is with one process.
func (v *views) compare(now simulation.State, cluster string) error {
	v.mu.Lock()
	defer v.mu.Unlock()
	var want, have []*corev1.Pod
	for _, p := range simulation.Objects[*corev1.Pod](now) {
		if isEven(p) {
			want = append(want, p)
		}
	}
	at := map[index.Key]string{}
	var errs []error
	for _, process := range slices.Sorted(maps.Keys(v.of)) {
		for p := range v.of[process].All() {
			if p.Cluster() != cluster {
				continue
			}
			have = append(have, p.Object)
			if other := at[index.KeyOf(p)]; other != "" {
				errs = append(errs, fmt.Errorf("%s and %s have %s", other, process, index.KeyOf(p)))
			}
			at[index.KeyOf(p)] = process
		}
	}
	return errors.Join(append(errs, differences(history.Diff("the server", want, "the views", have)))...)
}

// state is a Pod as one write left it. A Pod that was odd for an instant has another version.
type state struct {
	uid     types.UID
	version string
}

func stateOf(p *corev1.Pod) state { return state{p.UID, p.ResourceVersion} }

// leavings are the Pods that a view has reported as deleted, except those that moved to another process.
type leavings struct {
	mu     sync.Mutex
	states map[state]string // guarded by mu
}

func (l *leavings) note(e typed.Event[podOf]) {
	if e.Type != index.Deleted || e.Reason != index.Watched && e.Reason != index.Relisted {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.states[stateOf(e.New.Object)] = fmt.Sprintf("%s is reported as deleted (%v)", e.Key(), e.Reason)
}

// check returns an error if one of them is there, as it was.
func (l *leavings) check(now simulation.State) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, p := range simulation.Objects[*corev1.Pod](now) {
		if what, ok := l.states[stateOf(p)]; ok {
			return errors.New(what)
		}
	}
	clear(l.states)
	return nil
}

// TestViewsOfSharedFleets: two processes divide the objects of two clusters by a group in each,
// and have views of them, whatever happens to their Leases, lists and watches: nothing that is
// there is reported as deleted, and in the end each object is with one of them.
func TestViewsOfSharedFleets(t *testing.T) {
	simulation.Run(t, func(s *simulation.Simulation) {
		all, clusters := &views{of: map[string]*typed.Informer[podOf]{}}, []string{"east", "west"}
		for _, process := range []string{"one", "two"} {
			s.Start(process, func(ctx context.Context, config *rest.Config) error {
				return runSharedFleet(ctx, config, process, clusters, all)
			})
		}
		for _, cluster := range clusters {
			s.Eventually("the views have what the cluster "+cluster+" has", goal, func(now simulation.State) error {
				return all.compare(now, cluster)
			})
		}
		s.Do(writePods)
	})
}

func runSharedFleet(ctx context.Context, config *rest.Config, process string, names []string, all *views) error {
	set := &fleet.Clusters{}
	for _, name := range names {
		if err := set.Put(fleet.Cluster{Name: name, Config: rest.CopyConfig(config)}); err != nil {
			return err
		}
	}
	life := fmt.Sprint(process, "-", simulation.Random(ctx).IntN(1e9))
	pods := typed.NewInformer(fleet.NewSource(set, func(c fleet.Cluster) source.Source[*corev1.Pod] {
		group, err := shard.New(c.Config, "kube-system", c.Name, shard.WithIdentity(life), shard.WithHash(shard.Key()))
		if err != nil {
			panic(err) // nothing is wrong with the names
		}
		share := shard.NewSource(group, func() source.Source[*corev1.Pod] { return kube.FromREST[*corev1.Pod](c.Config) })
		return withGroup{share, group}
	}))
	even := typed.NewInformer(view.Filter(view.Of(pods), func(p podOf) bool { return isEven(p.Object) }))
	all.set(process, even)
	told, left := history.New[podOf](), &leavings{states: map[state]string{}}
	told.OwnWrites = true // the event of a deletion has the object before
	simulation.Always(ctx, "events follow from one another", func(simulation.State) error { return told.Err() })
	simulation.Always(ctx, "nothing that is there is reported as deleted", left.check)
	var recording sync.WaitGroup
	defer recording.Wait()
	events := even.Events(ctx)
	recording.Go(func() {
		for e := range events.All() {
			told.Record(e)
			left.note(e)
		}
	})
	return runAll(ctx, pods.Run, even.Run)
}
