package simulated_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"math/rand/v2"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/kubetyped/informer/apitest/simulation"
	"github.com/kubetyped/informer/index"
	"github.com/kubetyped/informer/queue"
	"github.com/kubetyped/informer/typed"
	"github.com/kubetyped/informer/typed/control"
	"github.com/kubetyped/informer/typed/kube"
)

// mostPods is how many Pods a ConfigMap asks for at most.
const mostPods = 4

// patience is how long after the last fault a controller may take: its queue puts a key off
// that has failed often for up to 1,000 seconds.
const patience = 30 * time.Minute

// scaler sees to it that each ConfigMap has as many Pods as it says.
type scaler struct {
	client kubernetes.Interface
	owners *typed.Informer[*corev1.ConfigMap]
	pods   *typed.Informer[*corev1.Pod]
	byName *index.Index[index.Key, *corev1.Pod]
	writes *control.Expectations[index.Key]
	ledger ledger
}

// scaling is how a scaler works.
type scaling struct {
	expects bool // what it writes
	untold  bool // no handler calls it for Pods
}

// expectationTimeout is that of Expectations, unless they are given one.
const expectationTimeout = 5 * time.Minute

// scale returns what runs a scaler.
func scale(how scaling) func(ctx context.Context, config *rest.Config) error {
	return func(ctx context.Context, config *rest.Config) error {
		client, err := kubernetes.NewForConfig(config)
		if err != nil {
			return err
		}
		keys, err := queue.NewWorkQueue[index.Key]()
		if err != nil {
			return err
		}
		var workers simulation.Workers[index.Key]
		q := workers.Adder(keys)
		timeout := expectationTimeout
		if how.untold { // it does not recover from its early reads
			timeout = time.Hour
		}
		writes, err := control.NewExpectations(q, control.WithExpectationTimeout(timeout))
		if err != nil {
			return err
		}
		s := &scaler{
			client: client, writes: writes,
			owners: typed.NewInformer(kube.FromClient(client.CoreV1().ConfigMaps(""))),
			pods:   typed.NewInformer(kube.FromClient(client.CoreV1().Pods(""))),
			byName: index.Single("owner", func(p *corev1.Pod) (index.Key, bool) {
				owner, ok := p.Labels["owner"]
				return index.Key{Namespace: p.Namespace, Name: owner}, ok
			}),
		}
		s.ledger.informer = s.pods
		_, err1 := s.owners.Handle(control.Enqueue[*corev1.ConfigMap](q))
		var err2 error
		if !how.untold {
			_, err2 = s.pods.Handle(control.EnqueueFunc(q, func(p *corev1.Pod) iter.Seq[index.Key] {
				return func(yield func(index.Key) bool) {
					yield(index.Key{Namespace: p.Namespace, Name: p.Labels["owner"]})
				}
			}))
		}
		if err := errors.Join(err1, err2, s.pods.AddIndexes(s.byName)); err != nil {
			return err
		}
		simulation.Always(ctx, "no two workers have one key", workers.Twice)
		simulation.Eventually(ctx, "no key is lost", patience, workers.Lost)
		process := s.reconcile
		if how.expects {
			simulation.Always(ctx, "a key is processed with what was written for it", s.ledger.check)
			process = writes.Wrap(func(ctx context.Context, key index.Key) error {
				s.ledger.begin(key, timeout)
				return s.reconcile(ctx, key)
			})
		}
		return control.Run(ctx, control.WithInformers(s.owners, s.pods), control.WithWorkers(keys, 3, workers.Wrap(process)))
	}
}

func (s *scaler) reconcile(ctx context.Context, key index.Key) error {
	want := 0
	if owner, ok := s.owners.Get(key); ok {
		want, _ = strconv.Atoi(owner.Data["replicas"])
	}
	have, pods := 0, s.client.CoreV1().Pods(key.Namespace)
	for p := range s.byName.All(key) {
		if p.DeletionTimestamp != nil {
			continue // its deletion has begun
		}
		if have++; have <= want {
			continue
		}
		if err := pods.Delete(ctx, p.Name, metav1.DeleteOptions{}); except(err, apierrors.IsNotFound) != nil {
			return err
		}
		if err := s.writes.ExpectDeleted(key, s.pods, p); err != nil {
			return err
		}
		s.ledger.removed(key, p)
	}
	for ; have < want; have++ {
		created, err := pods.Create(ctx, &corev1.Pod{ObjectMeta: metav1.ObjectMeta{
			GenerateName: key.Name + "-", Labels: map[string]string{"owner": key.Name},
		}}, metav1.CreateOptions{})
		if err != nil {
			return err
		}
		if err := s.writes.Expect(key, s.pods, created.ResourceVersion); err != nil {
			return err
		}
		s.ledger.wrote(key, created.ResourceVersion)
	}
	return nil
}

// writeOwners creates, scales and deletes ConfigMaps, and deletes Pods.
func writeOwners(ctx context.Context, client kubernetes.Interface, random *rand.Rand) error {
	return writeSomeOwners(ctx, client, random, random.IntN(5))
}

// writeOwnersAlone creates, scales and deletes ConfigMaps, and leaves Pods alone.
func writeOwnersAlone(ctx context.Context, client kubernetes.Interface, random *rand.Rand) error {
	return writeSomeOwners(ctx, client, random, random.IntN(4))
}

func writeSomeOwners(ctx context.Context, client kubernetes.Interface, random *rand.Rand, what int) error {
	owners, name := client.CoreV1().ConfigMaps("shop"), fmt.Sprint("app-", random.IntN(3))
	owner := &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: "shop"},
		Data:       map[string]string{"replicas": strconv.Itoa(random.IntN(mostPods + 1))},
	}
	var err error
	switch what {
	case 0, 1:
		_, err = owners.Create(ctx, owner, metav1.CreateOptions{})
	case 2:
		_, err = owners.Update(ctx, owner, metav1.UpdateOptions{})
	case 3:
		err = owners.Delete(ctx, name, metav1.DeleteOptions{})
	case 4:
		pods, failed := client.CoreV1().Pods("shop").List(ctx, metav1.ListOptions{})
		if failed != nil {
			return failed
		}
		if len(pods.Items) > 0 {
			err = client.CoreV1().Pods("shop").Delete(ctx, pods.Items[random.IntN(len(pods.Items))].Name, metav1.DeleteOptions{})
		}
	}
	return except(err, apierrors.IsAlreadyExists, apierrors.IsNotFound)
}

// podsOfOwners returns how many Pods each ConfigMap asks for, and how many it has; Pods
// whose ConfigMap is gone are among them.
func podsOfOwners(now simulation.State) (want, have map[string]int) {
	want, have = map[string]int{}, map[string]int{}
	for _, owner := range simulation.Objects[*corev1.ConfigMap](now) {
		want[owner.Name], _ = strconv.Atoi(owner.Data["replicas"])
	}
	for _, p := range simulation.Objects[*corev1.Pod](now) {
		have[p.Labels["owner"]]++
	}
	return want, have
}

func scaled(now simulation.State) error {
	want, have := podsOfOwners(now)
	for name := range have {
		want[name] += 0
	}
	for name, n := range want {
		if have[name] != n {
			return fmt.Errorf("%s is to have %d Pods, and has %d", name, n, have[name])
		}
	}
	return nil
}

// TestExpectations: whatever happens to a controller, it ends with the requested Pods.
func TestExpectations(t *testing.T) {
	simulation.Run(t, func(s *simulation.Simulation) {
		s.Start("scaler", scale(scaling{expects: true}))
		s.Do(writeOwners)
		s.Eventually("each ConfigMap has its Pods", patience, scaled)
	})
}

// delays are faults after which every client knows the outcome of its writes.
var delays = []simulation.Kind{
	simulation.Cut, simulation.Expired, simulation.Freeze, simulation.Slow, simulation.Held, simulation.Lag, simulation.Compacted,
}

// TestExpectationsNotify: a controller without a handler of Pods is called for the Pods that it
// has written, when they come, if it expects them.
func TestExpectationsNotify(t *testing.T) {
	simulation.Run(t, func(s *simulation.Simulation) {
		s.Start("scaler", scale(scaling{expects: true, untold: true}))
		s.Do(writeOwnersAlone)
		s.Faults(delays...)
		s.Eventually("each ConfigMap has its Pods", patience, scaled)
	})
}

// TestReadYourWrites: a controller that reads its own writes never creates more than was
// ever asked for, as long as it lives and learns what has become of its writes. One that
// does not is found.
func TestReadYourWrites(t *testing.T) {
	define := func(expects bool) func(*simulation.Simulation) {
		return func(s *simulation.Simulation) {
			s.Start("scaler", scale(scaling{expects: expects}))
			s.Do(writeOwners)
			s.Faults(delays...)
			s.Always("no ConfigMap has more Pods than one can ask for", func(now simulation.State) error {
				_, have := podsOfOwners(now)
				for name, n := range have {
					if n > mostPods {
						return fmt.Errorf("%s has %d Pods", name, n)
					}
				}
				return nil
			})
			s.Eventually("each ConfigMap has its Pods", patience, scaled)
		}
	}
	simulation.Run(t, define(true))
	found := simulation.Find(t, 100, define(false))
	require.NotNil(t, found, "a controller that creates Pods twice")
	assert.Contains(t, found.Check, "more Pods")
}
