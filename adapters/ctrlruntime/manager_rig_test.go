package ctrlruntime_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	toolscache "k8s.io/client-go/tools/cache"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/config"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"github.com/kubetyped/informer/adapters/ctrlruntime"
	"github.com/kubetyped/informer/apitest"
)

// pieces is what a manager and its controllers are built of.
type pieces struct {
	newCache   cache.NewCacheFunc // nil: controller-runtime's
	controller func(o *controller.Options) error
}

var builds = map[string]pieces{
	"controller-runtime": {
		controller: func(*controller.Options) error { return nil },
	},
	"typed": {
		newCache:   ctrlruntime.NewCache(),
		controller: func(o *controller.Options) error { return ctrlruntime.ConfigureController(o) },
	},
	"sharing": {
		newCache:   ctrlruntime.NewCache(ctrlruntime.WithDeduplication()),
		controller: func(o *controller.Options) error { return ctrlruntime.ConfigureController(o) },
	},
}

// rig is a server with a manager.
type rig struct {
	pieces
	server *apitest.Server
	mgr    manager.Manager
	client client.WithWatch // reads from the server
	ctx    context.Context  // ends a while before the test does
}

// onEachBuild runs a test with each of the builds. The options are those of the
// manager's cache.
func onEachBuild(t *testing.T, o cache.Options, test func(t *testing.T, r *rig)) {
	for name, p := range builds {
		t.Run(name, func(t *testing.T) {
			test(t, newRig(t, p, o))
		})
	}
}

func newRig(t *testing.T, p pieces, o cache.Options) *rig {
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	t.Cleanup(cancel)
	server, err := apitest.NewServer()
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, server.Close()) })
	options := ctrl.Options{
		Cache:      o,
		NewCache:   p.newCache,
		Logger:     logr.Discard(),
		Metrics:    metricsserver.Options{BindAddress: "0"},
		Controller: config.Controller{SkipNameValidation: new(true)},
	}
	mgr, err := ctrl.NewManager(server.Config(), options)
	require.NoError(t, err)
	live, err := client.NewWithWatch(server.Config(), client.Options{})
	require.NoError(t, err)
	return &rig{pieces: p, server: server, mgr: mgr, client: live, ctx: ctx}
}

// options returns options of a controller.
func (r *rig) options(t *testing.T) controller.Options {
	var o controller.Options
	require.NoError(t, r.controller(&o))
	return o
}

// start runs the manager until stop is called, which waits for its end.
func (r *rig) start(t *testing.T) (stop func()) {
	ctx, cancel := context.WithCancel(r.ctx)
	var running sync.WaitGroup
	running.Go(func() {
		if err := r.mgr.Start(ctx); err != nil {
			t.Errorf("manager: %v", err)
		}
	})
	stop = func() {
		cancel()
		running.Wait()
	}
	t.Cleanup(stop)
	return stop
}

// awaitCached waits until the cache has so many objects of a kind.
func (r *rig) awaitCached(t *testing.T, kind client.Object, n int) {
	informer, err := r.mgr.GetCache().GetInformer(r.ctx, kind)
	require.NoError(t, err)
	added := make(chan struct{})
	registration, err := informer.AddEventHandler(toolscache.ResourceEventHandlerFuncs{AddFunc: func(any) {
		select {
		case added <- struct{}{}:
		case <-r.ctx.Done():
		}
	}})
	require.NoError(t, err)
	for range n {
		select {
		case <-added:
		case <-r.ctx.Done():
			require.NoError(t, r.ctx.Err())
		}
	}
	require.NoError(t, informer.RemoveEventHandler(registration))
}

// awaitPods waits until the server has Pods in a namespace as they are asked for.
func (r *rig) awaitPods(t *testing.T, namespace string, is func(pods map[string]*corev1.Pod) bool) map[string]*corev1.Pod {
	var list corev1.PodList
	require.NoError(t, r.client.List(r.ctx, &list, client.InNamespace(namespace)))
	pods := map[string]*corev1.Pod{}
	for i := range list.Items {
		pods[list.Items[i].Name] = &list.Items[i]
	}
	if is(pods) {
		return pods
	}
	w, err := r.client.Watch(r.ctx, &list, client.InNamespace(namespace), &client.ListOptions{
		Raw: &metav1.ListOptions{ResourceVersion: list.ResourceVersion},
	})
	require.NoError(t, err)
	defer w.Stop()
	for {
		select {
		case e := <-w.ResultChan():
			pod, ok := e.Object.(*corev1.Pod)
			require.True(t, ok, "%v", e)
			pods[pod.Name] = pod
			if e.Type == "DELETED" {
				delete(pods, pod.Name)
			}
			if is(pods) {
				return pods
			}
		case <-r.ctx.Done():
			require.NoError(t, errors.Join(r.ctx.Err(), fmt.Errorf("there are %d Pods in %s", len(pods), namespace)))
		}
	}
}
