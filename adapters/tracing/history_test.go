package tracing_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/kubetyped/informer/adapters/tracing"
	"github.com/kubetyped/informer/apitest"
	"github.com/kubetyped/informer/apitest/history"
	"github.com/kubetyped/informer/index"
	"github.com/kubetyped/informer/typed"
	"github.com/kubetyped/informer/typed/kube"
)

// recorder notes the calls of a handler, object by object.
type recorder struct{ told []string }

func (r *recorder) OnAdd(obj *corev1.ConfigMap, initial bool) {
	r.told = append(r.told, fmt.Sprint("add ", obj.Name, obj.ResourceVersion, initial))
}
func (r *recorder) OnUpdate(old, obj *corev1.ConfigMap) {
	r.told = append(r.told, fmt.Sprint("update ", obj.Name, old.ResourceVersion, obj.ResourceVersion))
}
func (r *recorder) OnDelete(d typed.Deleted[*corev1.ConfigMap]) {
	r.told = append(r.told, fmt.Sprint("delete ", d.Key.Name, d.Old.ResourceVersion, d.Object.ResourceVersion, d.Reason))
}

// TestNothingIsLost changes an API server at random, with watches that break and histories that are
// compacted. An informer whose source is traced delivers the same events as are on the server, and
// its handlers receive the same with and without tracing.
func TestNothingIsLost(t *testing.T) {
	for seed := range uint64(20) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { testNothingIsLost(t, rand.New(rand.NewPCG(seed, 1))) })
		})
	}
}

func testNothingIsLost(t *testing.T, random *rand.Rand) {
	srv := apitest.Start(t)
	client, err := kubernetes.NewForConfig(srv.Config())
	require.NoError(t, err)
	tracer, exporter := newTracer(t, tracing.WithSampling(1+random.IntN(3)), tracing.WithBounds(1+random.IntN(8), time.Minute))
	src, events := tracing.Source(tracer, kube.FromREST[*corev1.ConfigMap](srv.Config()))
	maps := typed.NewInformer(src)
	played, with, without := history.New[*corev1.ConfigMap](), &recorder{}, &recorder{}
	for _, h := range []typed.Handler[*corev1.ConfigMap]{
		tracing.Handler[*corev1.ConfigMap](events, played), tracing.Handler[*corev1.ConfigMap](events, with), without,
	} {
		_, err := maps.Handle(h)
		require.NoError(t, err)
	}
	running(t, func(ctx context.Context) error { return maps.Run(ctx) })
	require.NoError(t, maps.WaitForSync(t.Context()))
	all := client.CoreV1().ConfigMaps("default")
	for range 200 {
		obj := newMap(fmt.Sprint("m", random.IntN(6)), "")
		obj.Data = map[string]string{"x": fmt.Sprint(random.Int())}
		switch random.IntN(8) {
		case 0, 1:
			_, _ = all.Create(t.Context(), obj, metav1.CreateOptions{})
		case 2, 3, 4, 5:
			_, _ = all.Update(t.Context(), obj, metav1.UpdateOptions{})
		case 6:
			_ = all.Delete(t.Context(), obj.Name, metav1.DeleteOptions{})
		default:
			if random.IntN(4) == 0 {
				srv.Compact()
			}
			srv.Inject(apitest.Fault{Verb: "watch", Open: true, End: apitest.Reset}).Remove()
			time.Sleep(time.Duration(random.IntN(3)) * time.Second)
		}
	}
	time.Sleep(2 * time.Minute)
	synctest.Wait()
	list, err := all.List(t.Context(), metav1.ListOptions{})
	require.NoError(t, err)
	assert.NoError(t, played.Err())
	assert.Len(t, list.Items, maps.Len())
	for i := range list.Items {
		held, ok := maps.Get(index.KeyOf(&list.Items[i]))
		if assert.True(t, ok) {
			assert.Equal(t, list.Items[i].ResourceVersion, held.ResourceVersion)
		}
	}
	assert.Equal(t, without.told, with.told)
	assert.NotEmpty(t, exporter.GetSpans())
	assert.LessOrEqual(t, events.Underway(), 8)
}
