package workload

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes/fake"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestEachMakesAllCallsSeveralAtATime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out strings.Builder
		crew := Crew{Workers: 4, Out: &out}
		var mu sync.Mutex
		calls, now, most := map[int]int{}, 0, 0
		begin := time.Now()

		err := crew.Each(t.Context(), "update", "things", 10, func(_ context.Context, i int) error {
			mu.Lock()
			calls[i]++
			now++
			most = max(most, now)
			mu.Unlock()
			time.Sleep(400 * time.Millisecond)
			mu.Lock()
			now--
			mu.Unlock()
			return nil
		})

		require.NoError(t, err)
		assert.Len(t, calls, 10)
		assert.Equal(t, 4, most)
		assert.Equal(t, 1200*time.Millisecond, time.Since(begin), "three rounds of four")
		assert.Equal(t, "updated 8 of 10 things (8/s)\nupdated 10 of 10 things (8/s)\n", out.String())
	})
}

func TestEachStopsAtTheFirstError(t *testing.T) {
	broken := errors.New("broken")
	calls := 0
	err := Crew{Workers: 1, Out: t.Output()}.Each(t.Context(), "create", "things", 10, func(context.Context, int) error {
		if calls++; calls == 3 {
			return broken
		}
		return nil
	})
	assert.ErrorIs(t, err, broken)
	assert.ErrorContains(t, err, "create things")
	assert.LessOrEqual(t, calls, 4, "one may be on its way")
}

func TestEachReturnsTheEndOfItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	err := Crew{Workers: 2, Out: t.Output()}.Each(ctx, "create", "things", 10, func(ctx context.Context, i int) error {
		switch {
		case i == 3:
			cancel()
		case i > 3:
			<-ctx.Done()
		}
		return nil
	})
	assert.ErrorIs(t, err, context.Canceled)
}

func TestCreateTakesTheClientOfTheNamespace(t *testing.T) {
	client := fake.NewClientset()
	objects := Objects{Namespaces: []string{"a", "b"}}
	require.NoError(t, Create(t.Context(), Crew{Workers: 3, Out: t.Output()}, "ConfigMaps", 21, objects.ConfigMap, client.CoreV1().ConfigMaps))
	for namespace, want := range map[string]int{"a": 11, "b": 10, corev1.NamespaceAll: 21} {
		list, err := client.CoreV1().ConfigMaps(namespace).List(t.Context(), metav1.ListOptions{})
		require.NoError(t, err)
		assert.Len(t, list.Items, want, namespace)
	}
}
