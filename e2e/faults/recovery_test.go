package faults

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"

	"github.com/kubetyped/informer/index"
	"github.com/kubetyped/informer/typed"
)

// recoverers is how many informers of each kind an outage hits; each waits by
// its own random numbers.
const recoverers = 7

// TestRecovery measures how long informers of this project and of client-go are
// behind, counted from when the API server is ready again, on the same server
// and through the same outage.
func TestRecovery(t *testing.T) {
	own := server.Cluster(t)
	for _, test := range []struct {
		down    time.Duration
		compact bool
	}{
		{5 * time.Second, false},
		{20 * time.Second, false},
		{20 * time.Second, true},
	} {
		name := fmt.Sprintf("API server down for %v", test.down)
		if test.compact {
			name += ", etcd compacted meanwhile"
		}
		t.Run(name, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), patience)
			defer cancel()
			objs := newConfigMaps(server.Namespace(t))
			for i := range 100 {
				_, err := objs.create(ctx, fmt.Sprintf("object-%d", i))
				require.NoError(t, err)
			}
			ours, theirs := race(ctx, t, objs)

			require.NoError(t, own.Kill())
			begin := time.Now()
			if test.compact {
				require.NoError(t, compact(ctx, own))
			}
			time.Sleep(test.down)
			require.NoError(t, own.Restart(ctx))
			ready := time.Now()
			down := ready.Sub(begin)
			_, err := objs.create(ctx, "last")
			require.NoError(t, err)

			late := behind(t, ours, ready)
			lateTheirs := behind(t, theirs, ready)
			t.Logf("down for %v; behind since: client-go %v, typed %v", down, lateTheirs, late)
			assert.Less(t, late[len(late)-1], 5*time.Second+down/2, "it is back soon, beside the time that the server was away")
			report.addRecovery(name, down, lateTheirs, late)
		})
	}
}

// race runs informers of both kinds until the test ends, and returns a channel for each that
// receives the time when it has seen the object named last.
func race(ctx context.Context, t *testing.T, objs configMaps) (ours, theirs []chan time.Time) {
	ctx, stop := context.WithCancel(ctx)
	var running sync.WaitGroup
	t.Cleanup(func() {
		stop()
		running.Wait()
	})
	for range recoverers {
		seen := make(chan time.Time, 1)
		ours = append(ours, seen)
		informer := typed.NewInformer(objs.source(server.Config()))
		_, err := informer.Handle(typed.HandlerFuncs[*corev1.ConfigMap]{AddFunc: func(obj *corev1.ConfigMap, _ bool) {
			if index.KeyOf(obj).Name == "last" {
				seen <- time.Now()
			}
		}})
		require.NoError(t, err)
		running.Go(func() { assert.NoError(t, informer.Run(ctx)) })
		require.NoError(t, informer.WaitForSync(ctx))
	}
	for range recoverers {
		seen := make(chan time.Time, 1)
		theirs = append(theirs, seen)
		client := kubernetes.NewForConfigOrDie(server.Config())
		factory := informers.NewSharedInformerFactoryWithOptions(client, 0, informers.WithNamespace(objs.namespace))
		_, err := factory.Core().V1().ConfigMaps().Informer().AddEventHandler(cache.ResourceEventHandlerFuncs{AddFunc: func(obj any) {
			if obj.(*corev1.ConfigMap).Name == "last" {
				seen <- time.Now()
			}
		}})
		require.NoError(t, err)
		factory.StartWithContext(ctx)
		t.Cleanup(func() {
			stop()
			factory.Shutdown()
		})
		for kind, synced := range factory.WaitForCacheSync(ctx.Done()) {
			require.True(t, synced, kind)
		}
	}
	return ours, theirs
}

// behind waits for all, and returns how long each took since ready, in order.
func behind(t *testing.T, seen []chan time.Time, ready time.Time) []time.Duration {
	t.Helper()
	var late []time.Duration
	for _, c := range seen {
		select {
		case at := <-c:
			late = append(late, at.Sub(ready))
		case <-time.After(patience):
			require.Fail(t, "an informer has not come back")
		}
	}
	slices.Sort(late)
	return late
}
