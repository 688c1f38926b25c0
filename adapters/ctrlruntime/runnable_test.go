package ctrlruntime_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/kubetyped/informer/adapters/ctrlruntime"
	"github.com/kubetyped/informer/index"
	"github.com/kubetyped/informer/typed"
	"github.com/kubetyped/informer/typed/kube"
	"github.com/kubetyped/informer/typed/report"
)

// configMaps returns an informer of the server's ConfigMaps.
func (r *rig) configMaps(t *testing.T) *informer {
	clientset, err := kubernetes.NewForConfig(r.server.Config())
	require.NoError(t, err)
	return typed.NewInformer(kube.FromClient(clientset.CoreV1().ConfigMaps(metav1.NamespaceAll)))
}

// control adds a controller to the manager that a source feeds.
func (r *rig) control(t *testing.T, reconciler reconcile.Func, src *ctrlruntime.Source[*corev1.ConfigMap, reconcile.Request]) {
	o := r.options(t)
	o.CacheSyncTimeout = time.Second
	require.NoError(t, ctrl.NewControllerManagedBy(r.mgr).Named("config maps").WatchesRawSource(src).WithOptions(o).Complete(reconciler))
}

// TestManagerRunsInformers ends a controller of a typed informer in the middle of a reconcile.
func TestManagerRunsInformers(t *testing.T) {
	onEachBuild(t, cache.Options{}, func(t *testing.T, r *rig) {
		require.NoError(t, r.server.Create(r.ctx, configMap("one", "a", 1)))
		maps := r.configMaps(t)
		var once sync.Once
		reached := make(chan struct{})
		seen := make(chan string, 10)
		r.control(t, func(ctx context.Context, req reconcile.Request) (reconcile.Result, error) {
			key := index.Key{Namespace: req.Namespace, Name: req.Name}
			if req.Name == "last" {
				once.Do(func() { close(reached) })
				<-ctx.Done() // all that need not lead has ended
			}
			_, ok := maps.Get(key)
			assert.True(t, ok, "the store is there as long as reconcilers are")
			seen <- req.Name
			return reconcile.Result{}, nil
		}, ctrlruntime.NewSource(maps, &handler.TypedEnqueueRequestForObject[*corev1.ConfigMap]{}))
		require.NoError(t, r.mgr.Add(ctrlruntime.Runnable(maps)))

		stop := r.start(t)
		assert.Equal(t, "a", <-seen)
		require.NoError(t, r.client.Create(r.ctx, configMap("one", "last", 1)))
		<-reached
		stop()
		assert.Equal(t, "last", <-seen)
		assert.Equal(t, report.PhaseStopped, maps.Status().Phase)
	})
}

func TestManagerReportsUnsyncedSource(t *testing.T) {
	onEachBuild(t, cache.Options{}, func(t *testing.T, r *rig) {
		from := newScript()
		inf := typed.NewInformer[*corev1.ConfigMap](from)
		r.control(t, func(context.Context, reconcile.Request) (reconcile.Result, error) {
			return reconcile.Result{}, errors.New("it must not be called")
		}, ctrlruntime.NewSource(inf, &handler.TypedEnqueueRequestForObject[*corev1.ConfigMap]{}))
		require.NoError(t, r.mgr.Add(ctrlruntime.Runnable(inf)))
		errForbidden := errors.New("config maps are forbidden")
		ctx, cancel := context.WithCancel(r.ctx)
		defer cancel()
		ended := make(chan error, 1)
		go func() { ended <- r.mgr.Start(ctx) }()
		(<-from.started).Report(errForbidden)
		err := <-ended
		require.ErrorIs(t, err, errForbidden)
		assert.ErrorContains(t, err, "typed informer source: *v1.ConfigMap")
	})
}

func TestManagerEndsWithAnInformerThatFails(t *testing.T) {
	r := newRig(t, builds["typed"], cache.Options{})
	from := newScript()
	require.NoError(t, r.mgr.Add(ctrlruntime.Runnable(typed.NewInformer[*corev1.ConfigMap](from))))
	errLost := errors.New("the source is lost")
	from.fail <- errLost
	require.ErrorIs(t, r.mgr.Start(r.ctx), errLost)

	r = newRig(t, builds["typed"], cache.Options{})
	require.NoError(t, r.mgr.Add(ctrlruntime.Runnable[*corev1.ConfigMap](nil)))
	require.ErrorContains(t, r.mgr.Start(r.ctx), "run informer: informer is nil")

	r = newRig(t, builds["typed"], cache.Options{})
	require.NoError(t, r.mgr.Add(ctrlruntime.Runnable(typed.NewInformer[*corev1.ConfigMap](nil))))
	require.ErrorContains(t, r.mgr.Start(r.ctx), "source is nil")
}

// A manager that stops does not wait for informers that never sync.
func TestManagerStopsWithoutInformersThatDoNotSync(t *testing.T) {
	r := newRig(t, builds["typed"], cache.Options{})
	from := newScript()
	require.NoError(t, r.mgr.Add(ctrlruntime.Runnable(typed.NewInformer[*corev1.ConfigMap](from))))
	stop := r.start(t)
	<-from.started
	stop()
}

// The cluster that a Runnable shows to the manager is not a cache for others.
func TestRunnableIsNotACache(t *testing.T) {
	inf := typed.NewInformer[*corev1.ConfigMap](newScript())
	runnable := ctrlruntime.Runnable(inf)
	leader, ok := runnable.(manager.LeaderElectionRunnable)
	require.True(t, ok)
	assert.False(t, leader.NeedLeaderElection())

	cluster, ok := runnable.(interface{ GetCache() cache.Cache })
	require.True(t, ok)
	c, ctx := cluster.GetCache(), t.Context()
	assert.True(t, c.WaitForCacheSync(ctx))
	_, err1 := c.GetInformer(ctx, &corev1.ConfigMap{})
	_, err2 := c.GetInformerForKind(ctx, corev1.SchemeGroupVersion.WithKind("ConfigMap"))
	for _, err := range []error{
		err1, err2, c.Get(ctx, client.ObjectKey{}, &corev1.ConfigMap{}), c.List(ctx, &corev1.ConfigMapList{}),
		c.RemoveInformer(ctx, &corev1.ConfigMap{}), c.IndexField(ctx, &corev1.ConfigMap{}, "x", nil), c.Start(ctx),
	} {
		assert.ErrorContains(t, err, "not a cache")
	}
}
