package simulated_test

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

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

// mostCalls is how often a key may be processed within a minute: users write a few times,
// lists come, and what fails is tried again.
const mostCalls = 150

// TestExpectNoChange: a controller that writes whenever it is called, and mostly what is there
// already, does so when there is a reason.
func TestExpectNoChange(t *testing.T) {
	simulation.Run(t, func(s *simulation.Simulation) {
		s.Start("labeller", label)
		s.Do(writeOwnersAlone)
	})
}

// label gives ConfigMaps a label, which they keep.
func label(ctx context.Context, config *rest.Config) error {
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return err
	}
	q, err := queue.NewWorkQueue[index.Key]()
	if err != nil {
		return err
	}
	writes, err := control.NewExpectations(q)
	if err != nil {
		return err
	}
	owners := typed.NewInformer(kube.FromClient(client.CoreV1().ConfigMaps("shop")))
	if _, err := owners.Handle(control.Enqueue[*corev1.ConfigMap](q)); err != nil {
		return err
	}
	var calls callCount
	simulation.Always(ctx, "a key is processed when there is a reason", calls.check)
	reconcile := writes.Wrap(func(ctx context.Context, key index.Key) error {
		calls.note(key)
		owner, ok := owners.Get(key)
		if !ok {
			return nil
		}
		labelled := owner.DeepCopy()
		labelled.Labels = map[string]string{"labelled": "true"}
		written, err := client.CoreV1().ConfigMaps("shop").Update(ctx, labelled, metav1.UpdateOptions{})
		if err != nil {
			return except(err, apierrors.IsNotFound)
		}
		return writes.Expect(key, owners, written.ResourceVersion)
	})
	return control.Run(ctx, control.WithInformers(owners), control.WithWorkers(q, 2, reconcile))
}

// callCount counts calls for keys.
type callCount struct {
	mu     sync.Mutex
	minute map[index.Key]minute // guarded by mu
	wrong  error                // guarded by mu; the first
}

type minute struct {
	began time.Time
	calls int
}

func (c *callCount) note(key index.Key) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.minute == nil {
		c.minute = map[index.Key]minute{}
	}
	m := c.minute[key]
	if time.Since(m.began) > time.Minute {
		m = minute{began: time.Now()}
	}
	m.calls++
	c.minute[key] = m
	if m.calls > mostCalls && c.wrong == nil {
		c.wrong = fmt.Errorf("%s was processed %d times in %v", key, m.calls, time.Since(m.began))
	}
}

func (c *callCount) check(simulation.State) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.wrong
}
