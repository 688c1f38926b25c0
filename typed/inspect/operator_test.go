package inspect_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/net/html"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubetyped/informer/apitest"
	"github.com/kubetyped/informer/index"
	"github.com/kubetyped/informer/internal/test/rig"
	"github.com/kubetyped/informer/queue"
	"github.com/kubetyped/informer/typed"
	"github.com/kubetyped/informer/typed/inspect"
	"github.com/kubetyped/informer/typed/inspect/snapshot"
	"github.com/kubetyped/informer/typed/kube"
	"github.com/kubetyped/informer/typed/observe"
)

// sickProgram is a program in which an informer has no rights, a handler is slow, another
// one stuck, one informer holds most of the memory, and one key fails. It reads
// some objects as metadata, others unstructured.
type sickProgram struct {
	factory *kube.Factory
	queue   *queue.WorkQueue[index.Key]
	stuck   chan struct{} // closed when the stuck handler is to return
}

// newSickProgram runs the program until the test ends, or for as long as the bubble lasts.
func newSickProgram(t *testing.T) *sickProgram {
	srv := apitest.Start(t)
	ctx, cancel := context.WithCancel(context.Background())
	p := &sickProgram{factory: kube.NewFactory(srv.Config(), kube.WithInformerOptions(observe.WithSlowHandlers(time.Hour, 2*time.Minute), observe.WithHistory(100))), stuck: make(chan struct{})}
	var running sync.WaitGroup
	t.Cleanup(func() {
		cancel()
		close(p.stuck)
		running.Wait()
		p.factory.Shutdown()
	})
	for n := range 40 {
		require.NoError(t, srv.Create(ctx, rig.NewPod(fmt.Sprintf("web-%d", n), "node-1")))
	}
	require.NoError(t, srv.Create(ctx, &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "node-1"}}))
	for n := range 100 {
		require.NoError(t, srv.Create(ctx, &corev1.ConfigMap{
			ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: fmt.Sprintf("prices-%d", n)},
			Data:       map[string]string{"prices": strings.Repeat(fmt.Sprint(n), 100_000)},
		}))
	}
	srv.Inject(apitest.Fault{Resource: "secrets", Err: apierrors.NewForbidden(corev1.Resource("secrets"), "", errors.New("no such right"))})

	pods, err := kube.For[*corev1.Pod](p.factory)
	require.NoError(t, err)
	configMaps, err := kube.For[*unstructured.Unstructured](p.factory, kube.WithResource(corev1.SchemeGroupVersion.WithResource("configmaps")))
	require.NoError(t, err)
	nodes, err := kube.For[*metav1.PartialObjectMetadata](p.factory, kube.WithResource(corev1.SchemeGroupVersion.WithResource("nodes")))
	require.NoError(t, err)
	_, err = kube.For[*corev1.Secret](p.factory)
	require.NoError(t, err)

	_, err = pods.Handle(typed.HandlerFuncs[*corev1.Pod]{AddFunc: func(*corev1.Pod, bool) {
		select {
		case <-time.After(3 * time.Second):
		case <-ctx.Done():
		}
	}}, typed.WithHandlerName("to the billing system"))
	require.NoError(t, err)
	_, err = nodes.Handle(typed.HandlerFuncs[*metav1.PartialObjectMetadata]{AddFunc: func(*metav1.PartialObjectMetadata, bool) { <-p.stuck }}, typed.WithHandlerName("never returns"))
	require.NoError(t, err)

	p.queue, err = queue.NewWorkQueue[index.Key](queue.WithName("prices"))
	require.NoError(t, err)
	_, err = configMaps.Handle(typed.HandlerFuncs[*unstructured.Unstructured]{AddFunc: func(c *unstructured.Unstructured, _ bool) { p.queue.Add(index.KeyOf(c)) }})
	require.NoError(t, err)
	running.Go(func() {
		_ = p.queue.Run(ctx, 2, func(_ context.Context, key index.Key) error {
			if key.Name == "prices-13" {
				return errors.New("the price of 13 is not a number")
			}
			return nil
		})
	})
	return p
}

// TestOperatorFindsTheFault reads the first part of the page, as an operator does, of a
// program made for it.
func TestOperatorFindsTheFault(t *testing.T) {
	rig.InBubble(t, func(t *testing.T) {
		p := newSickProgram(t)
		inspector := newInspector(t, inspect.WithFactories(p.factory), inspect.WithQueue(p.queue))
		time.Sleep(90 * time.Second)
		text := page(t, inspector, "/")
		said := problemsIn(t, text)
		t.Log("\n" + strings.Join(said, "\n"))
		wants := func(all ...string) {
			t.Helper()
			for _, line := range said {
				found := true
				for _, want := range all {
					found = found && strings.Contains(line, want)
				}
				if found {
					return
				}
			}
			assert.Fail(t, "the page does not say it", "%q in\n%s", all, strings.Join(said, "\n"))
		}
		require.NotEmpty(t, said)
		wants("Error", "Secret", "denies it the right to list or watch", "secrets is forbidden: no such right", "for 90 s")
		wants("Warning", "Pod", "handler to the billing system is", "a call takes 3 s on average")
		wants("Warning", "of nodes", "handler never returns has not returned for node-1", "for 90 s")
		wants("of configmaps", "hold", "MiB of heap, 100% of what those of all informers hold", "100")
		wants("Warning", "prices", "key shop/prices-13 fails", "in a row", "the price of 13 is not a number")

		time.Sleep(time.Minute) // after which a handler is called stuck
		said = problemsIn(t, page(t, inspector, "/"))
		wants("Error", "of nodes", "handler never returns is stuck in one call, for node-1")

		text = page(t, inspector, "/?key=shop/prices-13")
		assert.Contains(t, text, "It fails in queue prices for 2 min")
		assert.Contains(t, text, "It is in the stores of 1 of 4 informers")
		assert.Contains(t, text, "the price of 13 is not a number")
		key := decoded[snapshot.Key](t, inspector, "/?format=json&key=shop/prices-13")
		require.Len(t, key.Queues, 1)
		assert.Greater(t, key.Queues[0].Failing.Failures, 5)
		require.Len(t, key.Informers, 1)
		assert.Len(t, key.Informers[0].Events, 1, "the factory keeps a history")
		assert.Contains(t, key.Informers[0].Events[0].Type, "Added")
		key = decoded[snapshot.Key](t, inspector, "/?format=json&key=node-1")
		require.Len(t, key.Informers, 1)
		require.Len(t, key.Informers[0].Handlers, 1)
		assert.InDelta(t, 150, key.Informers[0].Handlers[0].Current.Seconds, 1)
	})
}

// problemsIn returns the text of each problem of a page, and checks that each links to a
// part that is there.
func problemsIn(t *testing.T, text string) (said []string) {
	t.Helper()
	tree := parsed(t, text)
	ids := map[string]bool{}
	for node := range tree.Descendants() {
		for _, attr := range node.Attr {
			if attr.Key == "id" {
				ids[attr.Val] = true
			}
		}
	}
	for node := range tree.Descendants() {
		if node.Data != "li" || node.Parent.Data != "ol" {
			continue
		}
		var words strings.Builder
		for inner := range node.Descendants() {
			if inner.Type == html.TextNode {
				words.WriteString(inner.Data)
			}
			for _, attr := range inner.Attr {
				if to, ok := strings.CutPrefix(attr.Val, "#"); ok && attr.Key == "href" {
					assert.True(t, ids[to], "a link to %s", to)
				}
			}
		}
		said = append(said, strings.Join(strings.Fields(words.String()), " "))
	}
	return said
}
