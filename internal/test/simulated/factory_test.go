package simulated_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/rest"

	"github.com/kubetyped/informer/apitest/history"
	"github.com/kubetyped/informer/apitest/simulation"
	"github.com/kubetyped/informer/index"
	"github.com/kubetyped/informer/typed"
	"github.com/kubetyped/informer/typed/kube"
)

// TestFactory: informers of a factory, whose uses come and go, are as good as others, run as
// long as they have a use, and no longer.
func TestFactory(t *testing.T) {
	simulation.Run(t, func(s *simulation.Simulation) {
		s.Start("factory", runFactory)
		s.Do(writePods)
	})
}

func runFactory(ctx context.Context, config *rest.Config) error {
	random := simulation.Random(ctx)
	grace := []time.Duration{0, time.Second, time.Minute}[random.IntN(3)]
	factory := kube.NewFactory(config, kube.WithInformerOptions(typed.WithGrace(grace)))
	factory.UseContext(ctx)
	defer factory.Shutdown()
	d := &department{factory: factory, grace: grace, unused: map[string]time.Time{}, users: map[string]int{}}
	simulation.Always(ctx, "informers run as long as they are used", d.check)
	group, ctx := errgroup.WithContext(ctx)
	for n := range 4 {
		random := split(random)
		group.Go(func() error {
			namespace := ""
			for try := 0; ctx.Err() == nil; try++ {
				if try == 0 || random.IntN(3) > 0 {
					namespace = append([]string{""}, namespaces...)[random.IntN(len(namespaces)+1)]
					sleep(ctx, someTime(random))
				} else if random.IntN(2) == 0 { // at the instant at which it ends
					sleep(ctx, grace)
				}
				if err := d.use(ctx, namespace, fmt.Sprintf("user %d, use %d,", n, try), random); err != nil {
					return err
				}
			}
			return nil
		})
	}
	return group.Wait()
}

// department counts the uses of the informers of a factory.
type department struct {
	factory *kube.Factory
	grace   time.Duration

	mu     sync.Mutex
	users  map[string]int       // guarded by mu; of informers, by namespace
	unused map[string]time.Time // guarded by mu; since when they are
}

// use uses the informer of a namespace, or of all, for some time.
func (d *department) use(ctx context.Context, namespace, name string, random *rand.Rand) error {
	d.mu.Lock()
	d.users[namespace]++ // before it is started
	d.mu.Unlock()
	pods, err := kube.For[*corev1.Pod](d.factory, kube.WithNamespace(namespace))
	if err != nil {
		return err
	}
	u := &use{SharedInformer: pods, namespace: namespace, name: name}
	u.visitor = visitor{told: history.New[*corev1.Pod](), read: u.get, random: random}
	if _, err := pods.Handle(u); err != nil {
		return err
	}
	simulation.Always(ctx, name+" is told in order", u.check)
	simulation.Eventually(ctx, name+" knows all", goal, u.knowsAll)
	if random.IntN(2) == 0 {
		waiting, stop := context.WithTimeout(ctx, someTime(random))
		u.verify(pods.WaitForSync(waiting), waiting)
		stop()
	}
	stays := someTime(random)
	if random.IntN(4) == 0 {
		stays = time.Hour
	}
	sleep(ctx, stays)
	var releasing sync.WaitGroup
	for range 1 + random.IntN(2) { // it may be released by several at once
		releasing.Go(u.release)
	}
	releasing.Wait()
	d.mu.Lock()
	d.users[namespace]--
	d.unused[namespace] = time.Now()
	d.mu.Unlock()
	if random.IntN(4) == 0 { // once more, in the time of grace
		sleep(ctx, d.grace/2)
		u.Release()
	}
	return nil
}

// use is one use of an informer.
type use struct {
	*typed.SharedInformer[*corev1.Pod]
	visitor
	name, namespace string
	released        sync.Mutex
}

// get reads, as a handler does: it is not called when the informer was released.
func (u *use) get(key index.Key) (*corev1.Pod, bool) { return u.Get(key) }

// release gives the informer back, and notes it when no more events may follow.
func (u *use) release() {
	u.released.Lock()
	defer u.released.Unlock()
	u.Release()
	u.close()
	if _, err := u.Handle(u); !errors.Is(err, index.ErrReleased) {
		u.note(fmt.Errorf("a handler is added after the release: %w", err))
	}
}

// verify notes that an informer has ended that is in use.
func (u *use) verify(err error, waiting context.Context) {
	if err != nil && waiting.Err() == nil {
		u.note(fmt.Errorf("WaitForSync: %w", err))
	}
	if err == nil && u.ResourceVersion() == "" {
		u.note(errors.New("it is synced, and at no version"))
	}
}

func (u *use) note(err error) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.fail("%w", err)
}

// knowsAll compares an open use with the server.
func (u *use) knowsAll(now simulation.State) error {
	if u.isClosed() {
		return nil
	}
	want := podsOf(now, u.namespace)
	return errors.Join(differences(history.Diff("the server", want, u.name, u.told.Objects())),
		differences(history.Diff("the server", want, "the informer", u.List())))
}

// podsOf returns the Pods that the server has in a namespace, "" being all.
func podsOf(now simulation.State, namespace string) (pods []*corev1.Pod) {
	for _, p := range simulation.Objects[*corev1.Pod](now) {
		if namespace == "" || p.Namespace == namespace {
			pods = append(pods, p)
		}
	}
	return pods
}

// check compares the informers that run with those that are used: each of those is there
// once, and the others for the time of grace at most.
func (d *department) check(simulation.State) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	used, mayRun := 0, 0
	for namespace, n := range d.users {
		switch {
		case n > 0:
			used, mayRun = used+1, mayRun+1
		case time.Since(d.unused[namespace]) <= d.grace:
			mayRun++
		}
	}
	if n := len(d.factory.Status()); n < used || n > mayRun {
		return fmt.Errorf("%d informers run; %d are used, and %d more go on for the time of grace", n, used, mayRun-used)
	}
	return nil
}
