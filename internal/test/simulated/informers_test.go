package simulated_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"

	"github.com/kubetyped/informer/apitest/history"
	"github.com/kubetyped/informer/apitest/simulation"
	"github.com/kubetyped/informer/index"
	"github.com/kubetyped/informer/typed"
	"github.com/kubetyped/informer/typed/kube"
	"github.com/kubetyped/informer/typed/source"
)

// goal is how long after the last fault an informer may be behind.
const goal = 10 * time.Minute

// longest is how long there are faults at most.
const longest = 15 * time.Minute

// TestInformers: an informer on any source, with handlers that come and go, fast and slow,
// delivers every event in order, and holds the server's objects in the end.
func TestInformers(t *testing.T) { simulation.Run(t, defineInformers) }

func defineInformers(s *simulation.Simulation) {
	calm := time.Now().Add(longest)
	s.Start("informer", func(ctx context.Context, config *rest.Config) error {
		random := simulation.Random(ctx)
		src, err := anySource(config, random)
		if err != nil {
			return err
		}
		var opts []typed.Option
		if random.IntN(2) == 0 {
			opts = append(opts, typed.WithRecreation())
		}
		w := &watched{Informer: typed.NewInformer(src, opts...), byValue: index.Single("value", valueOf), calm: calm}
		if err := w.AddIndexes(w.byValue); err != nil {
			return err
		}
		first := &visitor{random: split(random), prompt: w.resync}
		if _, err := w.handle(ctx, "the first handler", first); err != nil {
			return err
		}
		knowsAll(ctx, "the first handler", first)
		simulation.Always(ctx, "the index has what the store has", w.checkIndex)
		simulation.Eventually(ctx, "the informer has what the server has", goal, func(now simulation.State) error {
			return sameAsServer(now, "the informer", w.List())
		})
		var visiting sync.WaitGroup
		defer visiting.Wait()
		visiting.Go(func() { w.visit(ctx, random) })
		return w.Run(ctx)
	})
	s.Do(writeManyPods)
}

// anySource returns one of the sources of Pods that there are.
func anySource(config *rest.Config, random *rand.Rand) (source.Source[*corev1.Pod], error) {
	if random.IntN(2) == 0 {
		config.ContentType = runtime.ContentTypeJSON
	}
	var opts []kube.SourceOption
	if random.IntN(2) == 0 {
		opts = append(opts, kube.WithoutWatchList())
	}
	if random.IntN(2) == 0 {
		opts = append(opts, kube.WithPageSize(2))
	}
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return nil, err
	}
	switch random.IntN(4) {
	case 0:
		return kube.FromClient(client.CoreV1().Pods(""), opts...), nil
	case 1:
		lw := cache.NewListWatchFromClient(client.CoreV1().RESTClient(), "pods", "", fields.Everything())
		return kube.FromListerWatcher[*corev1.Pod](lw, opts...), nil
	case 2:
		set := source.NewNamespaces(namespaces...)
		return source.FromNamespaces(set, func(namespace string) source.Source[*corev1.Pod] {
			return kube.FromClient(client.CoreV1().Pods(namespace), opts...)
		}), nil
	}
	return kube.FromREST[*corev1.Pod](config, opts...), nil
}

// watched is an informer that checks look at.
type watched struct {
	*typed.Informer[*corev1.Pod]
	byValue *index.Index[string, *corev1.Pod]
	calm    time.Time // since then nothing goes wrong

	mu     sync.Mutex
	visits []*typed.Registration // guarded by mu
}

func valueOf(p *corev1.Pod) (string, bool) {
	value, ok := p.Labels["value"]
	return value, ok
}

// checkIndex compares the index with a look at all objects.
func (w *watched) checkIndex(simulation.State) error {
	for value := range 5 {
		got := map[index.Key]bool{}
		for p := range w.byValue.All(fmt.Sprint(value)) {
			got[index.KeyOf(p)] = true
		}
		for _, p := range w.List() {
			if has, _ := valueOf(p); (has == fmt.Sprint(value)) != got[index.KeyOf(p)] {
				return fmt.Errorf("%s has the value %s; the index has it under %d: %t", index.KeyOf(p), has, value, got[index.KeyOf(p)])
			}
			delete(got, index.KeyOf(p))
		}
		if len(got) > 0 {
			return fmt.Errorf("the index has %v under %d, which are not in the store", got, value)
		}
	}
	return nil
}

// handle adds a handler that stays.
func (w *watched) handle(ctx context.Context, name string, v *visitor, opts ...typed.HandlerOption) (*typed.Registration, error) {
	v.told, v.read = history.New[*corev1.Pod](), w.Get
	reg, err := w.Handle(v, opts...)
	if err != nil {
		return nil, err
	}
	simulation.Always(ctx, name+" is told in order", v.check)
	return reg, nil
}

// knowsAll checks that a handler that stays receives every event.
func knowsAll(ctx context.Context, name string, v *visitor) {
	simulation.Eventually(ctx, name+" knows all", goal, func(now simulation.State) error {
		if v.isClosed() {
			return nil
		}
		return sameAsServer(now, name, v.told.Objects())
	})
}

// visit adds handlers, some of them slow, and removes some of them again, until ctx ends.
func (w *watched) visit(ctx context.Context, random *rand.Rand) {
	for n := 0; sleep(ctx, time.Duration(random.Int64N(int64(3*time.Minute)))); n++ {
		v := &visitor{random: split(random), prompt: w.resync, until: w.calm}
		if random.IntN(2) == 0 {
			v.pause = time.Second << random.IntN(8)
		}
		delivery := []typed.Delivery{typed.EveryEvent(), typed.Coalesce(), typed.Block(1 + random.IntN(4))}[random.IntN(3)]
		v.coalesce = delivery == typed.Coalesce()
		opts := []typed.HandlerOption{typed.WithDelivery(delivery)}
		if random.IntN(2) == 0 {
			opts = append(opts, typed.WithResync(time.Second<<random.IntN(6)))
		}
		name := fmt.Sprintf("late handler %d, %v,", n, delivery)
		reg, err := w.handle(ctx, name, v, opts...)
		if err != nil {
			simulation.Always(ctx, "handlers can be added", func(simulation.State) error {
				if errors.Is(err, typed.ErrStopped) {
					return nil
				}
				return err
			})
			return
		}
		w.note(reg)
		knowsAll(ctx, name, v)
		stays := time.Duration(random.Int64N(int64(2 * time.Minute)))
		for range random.IntN(3) {
			reg.Resync()
			sleep(ctx, stays/4)
		}
		if sleep(ctx, stays) && random.IntN(4) > 0 {
			reg.Close()
			v.close()
		}
	}
}

// note adds a registration to those that are asked to resync.
func (w *watched) note(reg *typed.Registration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.visits = append(w.visits, reg)
}

// resync requests a resync of a handler that was added: at the instant of an event, since a
// handler calls it.
func (w *watched) resync(random *rand.Rand) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if n := len(w.visits); n > 0 {
		w.visits[random.IntN(n)].Resync()
	}
}

// split returns new random numbers for another goroutine.
func split(random *rand.Rand) *rand.Rand {
	return rand.New(rand.NewPCG(random.Uint64(), random.Uint64()))
}

// sleep waits, and reports whether ctx is still alive.
func sleep(ctx context.Context, length time.Duration) bool {
	select {
	case <-time.After(length):
		return true
	case <-ctx.Done():
		return false
	}
}
