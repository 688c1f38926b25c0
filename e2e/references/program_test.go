package references

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	"k8s.io/client-go/rest"

	"github.com/kubetyped/informer/index"
	"github.com/kubetyped/informer/internal/test/traffic"
	"github.com/kubetyped/informer/queue"
	"github.com/kubetyped/informer/typed"
	"github.com/kubetyped/informer/typed/control"
	"github.com/kubetyped/informer/typed/kube"
	"github.com/kubetyped/informer/typed/reference"
	"github.com/kubetyped/informer/typed/source"
)

// enough is the time in which each condition has to come true: failed requests are tried again
// after 30 s at most, and the machine may be busy.
const enough = 2 * time.Minute

// seen is what a reconcile has read of one Secret.
type seen struct {
	exists bool
	err    error
	done   bool
	stamp  string
}

// program is a controller in this process.
type program struct {
	traffic  traffic.Counter
	source   *reference.Source[index.Key, *corev1.Secret]
	informer *typed.Informer[*corev1.Secret]

	mu   sync.Mutex
	last map[string]seen // guarded by mu; what reconciles have read last, by Ingress
}

func secretsOf(ingress *networkingv1.Ingress) (keys []index.Key) {
	for _, tls := range ingress.Spec.TLS {
		keys = append(keys, index.Key{Namespace: ingress.Namespace, Name: tls.SecretName})
	}
	return keys
}

// runProgram runs the controller until the test ends.
func runProgram(t *testing.T, config *rest.Config) *program {
	p := &program{last: map[string]seen{}}
	p.traffic.Count(config)
	parents := typed.NewInformer(kube.FromREST[*networkingv1.Ingress](config))
	p.source = reference.NewSource[index.Key](func(k index.Key) source.Source[*corev1.Secret] {
		return kube.FromREST[*corev1.Secret](config, kube.WithName(k))
	})
	p.informer = typed.NewInformer(p.source)
	q, err := queue.NewWorkQueue[index.Key]()
	require.NoError(t, err)
	require.NoError(t, reference.From(p.source, parents, secretsOf))
	stop, err := reference.EnqueueReferrers(q, p.source, parents, secretsOf)
	require.NoError(t, err)
	_, err = parents.Handle(control.Enqueue[*networkingv1.Ingress](q))
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { // the cleanup waits for it
		ended <- control.Run(ctx, control.WithInformers(parents, p.informer), control.WithWorkers(q, 2, func(ctx context.Context, key index.Key) error {
			ingress, exists := parents.Get(key)
			if !exists {
				return nil
			}
			for _, secret := range secretsOf(ingress) {
				found, exists, err := reference.Get(ctx, p.source, p.informer, secret)
				s := seen{done: true, exists: exists, err: err}
				if exists {
					s.stamp = found.Annotations[changedStamp]
				}
				p.mu.Lock()
				p.last[key.Name] = s
				p.mu.Unlock()
			}
			return nil
		}))
	}()
	select {
	case <-parents.Synced():
	case <-time.After(enough):
		assert.Fail(t, "the Ingresses are not synced", "%+v", parents.Status().Err)
	}
	t.Cleanup(func() {
		stop()
		cancel()
		assert.NoError(t, <-ended)
	})
	return p
}

// await waits until the last reconcile of an Ingress has read what is right.
func (p *program) await(t *testing.T, ingress, what string, right func(seen) bool) {
	t.Helper()
	read := func() seen {
		p.mu.Lock()
		defer p.mu.Unlock()
		return p.last[ingress]
	}
	begin := time.Now()
	if !assert.Eventually(t, func() bool { return right(read()) }, enough, 10*time.Millisecond) {
		require.FailNow(t, what, "%s has read last: %+v; %+v", ingress, read(), p.source.Status())
	}
	t.Logf("%s, %s: after %s", ingress, what, time.Since(begin).Round(time.Millisecond))
}

// stampOf returns the stamp of a Secret that is read, "" if there is none.
func (p *program) stampOf(key index.Key) string {
	secret, exists := p.informer.Get(key)
	if !exists {
		return ""
	}
	return secret.Annotations[changedStamp]
}
