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
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/kubetyped/informer/apitest/simulation"
	"github.com/kubetyped/informer/index"
	"github.com/kubetyped/informer/queue"
	"github.com/kubetyped/informer/typed"
	"github.com/kubetyped/informer/typed/control"
	"github.com/kubetyped/informer/typed/report"
)

// TestOwnWrites: a controller that expects an informer to reflect a write is called at a moment
// at which it does, and at each one after. A write that is already visible is met at once.
func TestOwnWrites(t *testing.T) {
	simulation.Run(t, func(s *simulation.Simulation) {
		calm := time.Now().Add(longest)
		s.Start("writer", func(ctx context.Context, config *rest.Config) error { return runOwnWrites(ctx, config, calm) })
		s.Do(writePods)
	})
}

func runOwnWrites(ctx context.Context, config *rest.Config, calm time.Time) error {
	random := simulation.Random(ctx)
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return err
	}
	src, err := anySource(config, random)
	if err != nil {
		return err
	}
	q, err := queue.NewWorkQueue[index.Key]()
	if err != nil {
		return err
	}
	defer q.ShutDown()
	w := &watched{Informer: typed.NewInformer(src), calm: calm}
	o := &ownWrites{
		informer: w.Informer, client: client, random: split(random), life: random.IntN(1e9),
		going: map[types.UID]bool{}, gone: map[types.UID]bool{}, held: map[index.Key]string{},
	}
	if o.expects, err = control.NewExpectations(q, control.WithExpectationTimeout(24*time.Hour)); err != nil {
		return err
	}
	if _, err := w.Handle(o); err != nil {
		return err
	}
	simulation.Always(ctx, "what was written is read", o.check)
	simulation.Always(ctx, "nobody waits for what is there", o.checkWaiting)
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error { return w.Run(ctx) })
	group.Go(func() error { w.visit(ctx, random); return nil })
	group.Go(func() error { o.write(ctx); return nil })
	return group.Wait()
}

// ownWrites writes Pods that no other writer touches.
type ownWrites struct {
	informer *typed.Informer[*corev1.Pod]
	client   kubernetes.Interface
	expects  *control.Expectations[index.Key]
	random   *rand.Rand // for write
	life     int        // part of names
	names    int        // for write; how many there were

	mu    sync.Mutex
	going map[types.UID]bool   // guarded by mu; the deletion was asked for
	gone  map[types.UID]bool   // guarded by mu; was to be read as deleted
	burst []write              // guarded by mu; what is expected at the first event of it
	held  map[index.Key]string // guarded by mu; the version that is expected of each key
	wrong error                // guarded by mu; the first
}

// write is a write that has succeeded.
type write struct {
	key     index.Key
	version string
}

// write writes some Pods at a time, until ctx ends.
func (o *ownWrites) write(ctx context.Context) {
	var own []*corev1.Pod
	for sleep(ctx, time.Duration(o.random.Int64N(int64(time.Second<<o.random.IntN(9))))) {
		o.mu.Lock()
		o.burst = nil
		o.mu.Unlock()
		for range 1 + o.random.IntN(5) {
			own = o.writeOne(ctx, own)
		}
	}
}

// writeOne creates a Pod, or changes or deletes one of those that there are, which it returns.
// The outcome of a failed write is unknown: writeOne then drops that Pod.
func (o *ownWrites) writeOne(ctx context.Context, own []*corev1.Pod) []*corev1.Pod {
	if len(own) == 0 || len(own) < 4 && o.random.IntN(2) == 0 {
		o.names++
		pods := o.client.CoreV1().Pods(namespaces[o.random.IntN(len(namespaces))])
		p, err := pods.Create(ctx, newPod("", fmt.Sprintf("own-%d-%d", o.life, o.names), o.random.IntN(5)), metav1.CreateOptions{})
		if err != nil {
			return own
		}
		o.wrote(p)
		return append(own, p)
	}
	i := len(own) - 1 // mostly the latest: the informer may not know of it
	if o.random.IntN(3) == 0 {
		i = o.random.IntN(len(own))
	}
	p, rest := own[i], append(own[:i:i], own[i+1:]...)
	pods := o.client.CoreV1().Pods(p.Namespace)
	if o.random.IntN(2) == 0 {
		changed := p.DeepCopy()
		changed.Labels["value"] = fmt.Sprint(o.random.IntN(5))
		changed.ResourceVersion = ""
		if p, err := pods.Update(ctx, changed, metav1.UpdateOptions{}); err == nil {
			o.wrote(p)
			return append(rest, p)
		}
		return rest
	}
	o.mu.Lock()
	o.going[p.UID] = true
	o.mu.Unlock()
	zero := int64(0)
	if err := pods.Delete(ctx, p.Name, metav1.DeleteOptions{GracePeriodSeconds: &zero}); err == nil {
		o.deleted(p)
	}
	return rest
}

// wrote checks a write when the informer reflects it.
func (o *ownWrites) wrote(p *corev1.Pod) {
	key, version, uid := index.KeyOf(p), p.ResourceVersion, p.UID
	o.mu.Lock()
	o.burst = append(o.burst, write{key, version})
	o.mu.Unlock()
	expected, err := o.informer.ExpectVersion(version)
	o.await(expected, err, func() error {
		switch has, ok := o.informer.Get(key); {
		case !ok && !o.going[uid]:
			return fmt.Errorf("%s is not there at version %s, and was written at version %s", key, o.informer.ResourceVersion(), version)
		case ok && older(has.ResourceVersion, version):
			return fmt.Errorf("%s is read at version %s, and was written at version %s", key, has.ResourceVersion, version)
		}
		return nil
	})
}

// deleted checks a deletion when the informer reflects it.
func (o *ownWrites) deleted(p *corev1.Pod) {
	expected, err := o.informer.ExpectDeleted(p)
	o.await(expected, err, func() error {
		o.gone[p.UID] = true
		if has, ok := o.informer.Get(index.KeyOf(p)); ok && has.UID == p.UID && has.DeletionTimestamp == nil {
			return fmt.Errorf("%s is there, and was deleted", index.KeyOf(p))
		}
		return nil
	})
}

// await calls verify, which holds mu, when something that is expected is met.
func (o *ownWrites) await(expected typed.Expected, err error, verify func() error) {
	if err != nil {
		if !errors.Is(err, typed.ErrStopped) {
			o.fail(err)
		}
		return
	}
	look := func() {
		if !expected.Met() || o.informer.Phase() == report.PhaseStopped {
			return
		}
		o.mu.Lock()
		err := verify()
		o.mu.Unlock()
		o.fail(err)
	}
	look()
	expected.Watch(look)
	look()
}

func (o *ownWrites) fail(err error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.wrong == nil {
		o.wrong = err
	}
}

// check returns what was wrong, and whether something has come back.
func (o *ownWrites) check(simulation.State) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.wrong != nil {
		return o.wrong
	}
	for _, p := range o.informer.List() {
		if o.gone[p.UID] && p.DeletionTimestamp == nil {
			return fmt.Errorf("%s is there, and was met as deleted", index.KeyOf(p))
		}
	}
	return nil
}

// expect makes Expectations wait for all of a burst when the informer delivers its first write:
// at the instant, perhaps, at which the others arrive.
func (o *ownWrites) expect(p *corev1.Pod) {
	o.mu.Lock()
	var all []write
	if len(o.burst) > 1 && o.burst[0].version == p.ResourceVersion {
		all, o.burst = o.burst[1:], nil
	}
	for _, w := range all {
		if o.held[w.key] == "" || older(o.held[w.key], w.version) {
			o.held[w.key] = w.version
		}
	}
	o.mu.Unlock()
	for _, w := range all {
		if err := o.expects.Expect(w.key, o.informer, w.version); err != nil && !errors.Is(err, typed.ErrStopped) {
			o.fail(err)
		}
	}
}

// checkWaiting compares what Expectations wait for with what the informer has come to.
func (o *ownWrites) checkWaiting(simulation.State) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	at, unmet := o.informer.ResourceVersion(), 0
	for key, version := range o.held {
		if at == "" || older(at, version) {
			unmet++
		} else {
			delete(o.held, key)
		}
	}
	if keys := o.expects.Stats().Keys; keys > unmet {
		return fmt.Errorf("%d keys wait at version %s, and %d expect a later one", keys, at, unmet)
	}
	return nil
}

// OnAdd implements typed.Handler.
func (o *ownWrites) OnAdd(obj *corev1.Pod, _ bool) { o.expect(obj) }

// OnUpdate implements typed.Handler.
func (o *ownWrites) OnUpdate(_, updated *corev1.Pod) { o.expect(updated) }

// OnDelete implements typed.Handler.
func (o *ownWrites) OnDelete(typed.Deleted[*corev1.Pod]) {}
