package simulated_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/resourceversion"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/kubetyped/informer/apitest/history"
	"github.com/kubetyped/informer/apitest/simulation"
	"github.com/kubetyped/informer/index"
	"github.com/kubetyped/informer/typed"
	"github.com/kubetyped/informer/typed/kube"
	"github.com/kubetyped/informer/typed/source"
)

// TestReads: all ways to read an informer return the same, its version is not ahead of them, and
// events carry their reasons. Namespaces come and go.
func TestReads(t *testing.T) {
	simulation.Run(t, func(s *simulation.Simulation) {
		s.Start("informer", runReads)
		s.Do(writePods)
	})
}

func runReads(ctx context.Context, config *rest.Config) error {
	random := simulation.Random(ctx)
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return err
	}
	in := func(namespace string) source.Source[*corev1.Pod] {
		return kube.FromClient(client.CoreV1().Pods(namespace))
	}
	set := source.NewNamespaces(namespaces...)
	late := map[string]time.Duration{}
	for _, name := range namespaces {
		late[name] = someTime(random)
	}
	informer := typed.NewInformer(source.FromNamespaces(set, func(namespace string) source.Source[*corev1.Pod] {
		return lateSource{in(namespace), late[namespace]}
	}), typed.WithRecreation())
	all := typed.NewInformer(source.FromNamespaces(source.NewNamespaces(namespaces...), in))
	told := history.New[*corev1.Pod]()
	var mixed error
	simulation.Always(ctx, "one key reads as all do", func(simulation.State) error { return readsAgree(informer) })
	simulation.Always(ctx, "events follow from one another", func(simulation.State) error { return told.Err() })
	simulation.Always(ctx, "an update is of one object", func(simulation.State) error { return mixed })
	simulation.Always(ctx, "reads are not behind the version", func(now simulation.State) error { return readsReach(now, all) })
	simulation.Eventually(ctx, "the informer has its namespaces", goal, func(now simulation.State) error {
		return differences(history.Diff("the server", podsIn(now, set), "the informer", informer.List()))
	})
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error { return informer.Run(ctx) })
	group.Go(func() error { return all.Run(ctx) })
	group.Go(func() error {
		for e := range informer.Events(ctx).All() {
			told.Record(e)
			if e.Type == index.Updated && e.Old.UID != e.New.UID {
				mixed = fmt.Errorf("%s has two UIDs", e.Key())
			}
		}
		return nil
	})
	group.Go(func() error { return changeNamespaces(ctx, set, random) })
	return group.Wait()
}

// changeNamespaces adds and removes namespaces for some minutes.
func changeNamespaces(ctx context.Context, set *source.Namespaces, random *rand.Rand) error {
	for range 8 {
		if !sleep(ctx, someTime(random)) {
			return nil
		}
		name := namespaces[random.IntN(len(namespaces))]
		set.Remove(name)
		sleep(ctx, someTime(random))
		if random.IntN(4) > 0 {
			if err := set.Add(name); err != nil {
				return err
			}
		}
	}
	return nil
}

// someTime returns milliseconds, seconds, or a minute or two.
func someTime(random *rand.Rand) time.Duration {
	scale := []time.Duration{100 * time.Millisecond, 10 * time.Second, 2 * time.Minute}[random.IntN(3)]
	return time.Duration(random.Int64N(int64(scale)))
}

// lateSource is a source that takes its time before it begins, so that the informer waits
// for it when others have been listed.
type lateSource struct {
	source.Source[*corev1.Pod]
	late time.Duration
}

func (s lateSource) Run(ctx context.Context, sink source.Sink[*corev1.Pod]) error {
	if !sleep(ctx, s.late) {
		return ctx.Err()
	}
	return s.Source.Run(ctx, sink)
}

// podsIn returns the Pods of the server in some namespaces.
func podsIn(now simulation.State, set *source.Namespaces) (pods []*corev1.Pod) {
	in := map[string]bool{}
	for _, name := range set.All() {
		in[name] = true
	}
	for _, p := range simulation.Objects[*corev1.Pod](now) {
		if in[p.Namespace] {
			pods = append(pods, p)
		}
	}
	return pods
}

// readsAgree compares reads by key with a read of all.
func readsAgree(informer *typed.Informer[*corev1.Pod]) error {
	var errs []error
	for _, p := range informer.List() {
		if one, ok := informer.Get(index.KeyOf(p)); !ok || one != p {
			errs = append(errs, fmt.Errorf("%s: Get returns %v, %t", index.KeyOf(p), one.GetResourceVersion(), ok))
		}
	}
	return errors.Join(errs...)
}

// readsReach compares the version of an informer with its objects: they are the latest states up
// to that version.
func readsReach(now simulation.State, informer *typed.Informer[*corev1.Pod]) error {
	at := informer.ResourceVersion()
	if at == "" {
		return nil
	}
	for _, p := range simulation.Objects[*corev1.Pod](now) {
		order, err := resourceversion.CompareResourceVersion(p.ResourceVersion, at)
		if err != nil {
			return err
		}
		has, ok := informer.Get(index.KeyOf(p))
		if order <= 0 && (!ok || has.ResourceVersion != p.ResourceVersion) {
			return fmt.Errorf("it is at version %s without %s at version %s", at, index.KeyOf(p), p.ResourceVersion)
		}
	}
	return nil
}
