package ctrlruntime_test

import (
	"context"
	"fmt"
	"log"
	"sync"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/controller/priorityqueue"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/kubetyped/informer/adapters/ctrlruntime"
	"github.com/kubetyped/informer/apitest"
	"github.com/kubetyped/informer/index"
	"github.com/kubetyped/informer/queue"
	"github.com/kubetyped/informer/typed"
	"github.com/kubetyped/informer/typed/control"
	"github.com/kubetyped/informer/typed/kube"
)

// A program for controller-runtime with the typed core under its manager and its
// controller. But for two lines it is as before.
func Example() {
	config, shutdown := newCluster(configMap("default", "a", 1))
	defer shutdown()

	options := quiet(ctrl.Options{Cache: cache.Options{DefaultTransform: cache.TransformStripManagedFields()}})
	options.NewCache = ctrlruntime.NewCache() // the first
	mgr, err := ctrl.NewManager(config, options)
	if err != nil {
		log.Fatal(err)
	}
	var workers controller.Options
	if err := ctrlruntime.ConfigureController(&workers); err != nil { // the second
		log.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	err = ctrl.NewControllerManagedBy(mgr).
		For(&corev1.ConfigMap{}).
		WithOptions(workers).
		Complete(reconcile.Func(func(ctx context.Context, req reconcile.Request) (reconcile.Result, error) {
			var found corev1.ConfigMap
			if err := mgr.GetClient().Get(ctx, req.NamespacedName, &found); err != nil {
				return reconcile.Result{}, err
			}
			fmt.Println("reconciled", req, "which asks for", found.Data["replicas"])
			stop()
			return reconcile.Result{}, nil
		}))
	if err != nil {
		log.Fatal(err)
	}
	if err := mgr.Start(ctx); err != nil {
		log.Fatal(err)
	}
	// Output: reconciled default/a which asks for 1
}

// A cache can also be used without a manager.
func ExampleNewCache() {
	config, shutdown := newCluster(configMap("default", "a", 1), configMap("default", "b", 2), configMap("other", "c", 2))
	defer shutdown()

	options := cache.Options{DefaultNamespaces: map[string]cache.Config{"default": {}}}
	maps, err := ctrlruntime.NewCache()(config, options)
	if err != nil {
		log.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	var running sync.WaitGroup
	running.Go(func() {
		if err := maps.Start(ctx); err != nil {
			log.Print(err)
		}
	})
	var found corev1.ConfigMapList
	if err := maps.List(ctx, &found); err != nil {
		log.Fatal(err)
	}
	fmt.Println("config maps:", len(found.Items))
	stop()
	running.Wait()
	// Output: config maps: 2
}

// Only the Secrets that the program reads are in the cache.
func ExampleWithReferences() {
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "a"}}
	config, shutdown := newCluster(secret)
	defer shutdown()

	var options ctrl.Options
	options.NewCache = ctrlruntime.NewCache(ctrlruntime.WithReferences[*corev1.Secret]())
	secrets, err := options.NewCache(config, cache.Options{})
	if err != nil {
		log.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	var running sync.WaitGroup
	running.Go(func() {
		if err := secrets.Start(ctx); err != nil {
			log.Print(err)
		}
	})
	secrets.WaitForCacheSync(ctx)
	var found corev1.Secret
	if err := secrets.Get(ctx, client.ObjectKeyFromObject(secret), &found); err != nil {
		log.Fatal(err)
	}
	fmt.Println("found:", found.Name)
	stop()
	running.Wait()
	// Output: found: a
}

// The queue of a controller can do more than controller-runtime's: no namespace
// keeps others waiting.
func ExampleConfigureController() {
	options := controller.Options{MaxConcurrentReconciles: 4}
	err := ctrlruntime.ConfigureController(&options, queue.WithFairness(func(r reconcile.Request) string { return r.Namespace }))
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(options.MaxConcurrentReconciles, options.NewQueue != nil)

	// It does not replace a NewQueue that is already set.
	fmt.Println(ctrlruntime.ConfigureController(&options))
	// Output:
	// 4 true
	// configure controller: NewQueue is set already, and there can be only one: leave it nil, or leave ConfigureController out
}

// A queue can be used without a controller, wherever one of controller-runtime can.
func ExampleNewQueue() {
	q, err := ctrlruntime.NewQueue[string](queue.WithName("buckets"))
	if err != nil {
		log.Fatal(err)
	}
	defer q.ShutDown()
	low := queue.LowPriority
	q.AddWithOpts(priorityqueue.AddOpts{Priority: &low}, "unchanged-1", "unchanged-2")
	q.Add("changed")
	for q.Len() > 0 {
		key, priority, _ := q.GetWithPriority()
		fmt.Println(key, priority)
		q.Done(key)
	}
	// Output:
	// changed 0
	// unchanged-1 -100
	// unchanged-2 -100
}

// A controller that is fed from a typed informer, which the manager runs, and that
// reads from it without copying.
func ExampleNewSource() {
	config, shutdown := newCluster(configMap("default", "a", 1), configMap("default", "b", 2))
	defer shutdown()
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		log.Fatal(err)
	}
	mgr, err := ctrl.NewManager(config, quiet(ctrl.Options{}))
	if err != nil {
		log.Fatal(err)
	}

	maps := typed.NewInformer(kube.FromClient(client.CoreV1().ConfigMaps(metav1.NamespaceAll)))
	if err := mgr.Add(ctrlruntime.Runnable(maps)); err != nil {
		log.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	named := predicate.NewTypedPredicateFuncs(func(m *corev1.ConfigMap) bool { return m.Name == "b" })
	err = ctrl.NewControllerManagedBy(mgr).Named("maps").
		WatchesRawSource(ctrlruntime.NewSource(maps, &handler.TypedEnqueueRequestForObject[*corev1.ConfigMap]{}, named)).
		Complete(reconcile.Func(func(_ context.Context, req reconcile.Request) (reconcile.Result, error) {
			found, ok := maps.Get(index.Key(req.NamespacedName))
			fmt.Println(ok, found.Name, found.Data["replicas"])
			stop()
			return reconcile.Result{}, nil
		}))
	if err != nil {
		log.Fatal(err)
	}
	if err := mgr.Start(ctx); err != nil {
		log.Fatal(err)
	}
	// Output: true b 2
}

// A controller whose typed handler adds the owners of Pods.
func ExampleNewHandlerSource() {
	owner := configMap("default", "a", 1)
	owner.UID = "1"
	kind := corev1.SchemeGroupVersion.WithKind("ConfigMap")
	config, shutdown := newCluster(&corev1.Pod{ObjectMeta: metav1.ObjectMeta{
		Namespace: "default", Name: "a-0", OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(owner, kind)},
	}})
	defer shutdown()
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		log.Fatal(err)
	}
	mgr, err := ctrl.NewManager(config, quiet(ctrl.Options{}))
	if err != nil {
		log.Fatal(err)
	}

	pods := typed.NewInformer(kube.FromClient(client.CoreV1().Pods(metav1.NamespaceAll)))
	if err := mgr.Add(ctrlruntime.Runnable(pods)); err != nil {
		log.Fatal(err)
	}
	ofPods := ctrlruntime.NewHandlerSource(pods, func(q control.Adder[reconcile.Request]) typed.Handler[*corev1.Pod] {
		return control.EnqueueOwner[*corev1.Pod](ctrlruntime.Requests(q), kind.GroupKind())
	})
	ctx, stop := context.WithCancel(context.Background())
	err = ctrl.NewControllerManagedBy(mgr).Named("owners").
		WatchesRawSource(ofPods.With(typed.WithDelivery(typed.Coalesce()))).
		Complete(reconcile.Func(func(_ context.Context, req reconcile.Request) (reconcile.Result, error) {
			fmt.Println(req)
			stop()
			return reconcile.Result{}, nil
		}))
	if err != nil {
		log.Fatal(err)
	}
	if err := mgr.Start(ctx); err != nil {
		log.Fatal(err)
	}
	// Output: default/a
}

// newCluster starts an API server in memory that holds objs, and returns how to reach
// it and the function that ends it.
func newCluster(objs ...apitest.Object) (config *rest.Config, shutdown func() error) {
	srv, err := apitest.NewServer(apitest.WithObjects(objs...))
	if err != nil {
		log.Fatal(err)
	}
	return srv.Config(), srv.Close
}

// quiet returns options of a manager that neither logs nor listens.
func quiet(o ctrl.Options) ctrl.Options {
	o.Logger = logr.Discard()
	o.Metrics = metricsserver.Options{BindAddress: "0"}
	return o
}
