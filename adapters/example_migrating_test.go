package adapters_test

import (
	"context"
	"fmt"
	"log"
	"slices"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/fake"
	corev1listers "k8s.io/client-go/listers/core/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"

	"github.com/kubetyped/informer/adapters"
	"github.com/kubetyped/informer/index"
	"github.com/kubetyped/informer/lister"
	"github.com/kubetyped/informer/typed"
	"github.com/kubetyped/informer/typed/kube"
	"github.com/kubetyped/informer/typed/observe"
)

// What follows is the code of docs/how-to/adopt-client-go.md.

const resync = 0

var indexers = cache.Indexers{cache.NamespaceIndex: cache.MetaNamespaceIndexFunc, "node": nodeOf}

func nodeOf(obj any) ([]string, error) { return []string{obj.(*corev1.Pod).Spec.NodeName}, nil }

func twoPods() kubernetes.Interface {
	return fake.NewClientset(
		&corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "web"}, Spec: corev1.PodSpec{NodeName: "node-1"}},
		&corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "db"}, Spec: corev1.PodSpec{NodeName: "node-2"}},
	)
}

func podsOf(client kubernetes.Interface) cache.ListerWatcher {
	return cache.ToListWatcherWithWatchListSemantics(&cache.ListWatch{
		ListWithContextFunc: func(ctx context.Context, opts metav1.ListOptions) (runtime.Object, error) {
			return client.CoreV1().Pods("").List(ctx, opts)
		},
		WatchFuncWithContext: client.CoreV1().Pods("").Watch,
	}, client)
}

// Step 1 in a program that makes its informers itself: the constructor is that
// of another package.
func ExampleNewSharedIndexInformer() {
	lw := podsOf(twoPods())

	{
		pods := cache.NewSharedIndexInformer(lw, &corev1.Pod{}, resync, indexers)
		_ = pods
	}

	pods := adapters.NewSharedIndexInformer(lw, &corev1.Pod{}, resync, indexers)

	ctx, stop := context.WithCancel(context.Background())
	var running sync.WaitGroup
	running.Go(func() { pods.RunWithContext(ctx) })
	cache.WaitFor(ctx, "", pods.HasSyncedChecker())
	found, err := pods.GetIndexer().ByIndex("node", "node-1")
	fmt.Println(len(found), err)
	stop()
	running.Wait()
	// Output: 1 <nil>
}

// Step 1 in a program with a factory: all users of the factory get Pods from the typed core.
func ExampleServe_migrating() {
	client := twoPods()

	factory := informers.NewSharedInformerFactory(client, 10*time.Minute)
	if err := adapters.Serve(factory, client.CoreV1().Pods(metav1.NamespaceAll)); err != nil {
		panic(err)
	}

	pods := factory.Core().V1().Pods().Lister()
	ctx, stop := context.WithCancel(context.Background())
	factory.StartWithContext(ctx)
	factory.WaitForCacheSyncWithContext(ctx)
	found, err := pods.List(labels.Everything())
	fmt.Println(len(found), err)
	stop()
	factory.Shutdown()
	// Output: 2 <nil>
}

// Step 2: typed handlers, indexes and listers on the informer that is there.
func ExampleFromShared_migrating() {
	factory := informers.NewSharedInformerFactory(twoPods(), 0)
	enqueue := func(pod *corev1.Pod) { fmt.Println("look at", pod.Name) }

	{
		informer := factory.Core().V1().Pods().Informer()
		_, err := informer.AddEventHandler(cache.ResourceEventHandlerFuncs{
			DeleteFunc: func(obj any) {
				pod, ok := obj.(*corev1.Pod)
				if !ok {
					tombstone, ok := obj.(cache.DeletedFinalStateUnknown)
					if !ok {
						return
					}
					if pod, ok = tombstone.Obj.(*corev1.Pod); !ok {
						return
					}
				}
				enqueue(pod)
			},
		})
		if err != nil {
			panic(err)
		}
		web, err := corev1listers.NewPodLister(informer.GetIndexer()).Pods("shop").Get("web")
		_, _ = web, err
	}

	pods := typed.NewInformer(adapters.FromShared[*corev1.Pod](factory.Core().V1().Pods().Informer()))
	byNode := index.Single("node", func(p *corev1.Pod) (string, bool) { return p.Spec.NodeName, p.Spec.NodeName != "" })
	if err := pods.AddIndexes(byNode); err != nil {
		panic(err)
	}
	_, err := pods.Handle(typed.HandlerFuncs[*corev1.Pod]{
		DeleteFunc: func(deleted typed.Deleted[*corev1.Pod]) { enqueue(deleted.Object) },
	})
	if err != nil {
		panic(err)
	}

	ctx, stop := context.WithCancel(context.Background())
	var running sync.WaitGroup
	running.Go(func() {
		if err := pods.Run(ctx); err != nil {
			panic(err)
		}
	})
	factory.StartWithContext(ctx)
	if err := pods.WaitForSync(ctx); err != nil {
		panic(err)
	}
	web, err := lister.New(pods).Namespace("shop").Get("web")
	fmt.Println(web.Name, byNode.Len("node-1"), err)
	stop()
	running.Wait()
	factory.Shutdown()
	// Output: web 1 <nil>
}

// Step 3: the informer lists and watches by itself, and nothing of client-go's
// caches is left.
func Example_typedSource() {
	client := twoPods()

	pods := typed.NewInformer(kube.FromClient(client.CoreV1().Pods(metav1.NamespaceAll)))

	ctx, stop := context.WithCancel(context.Background())
	var running sync.WaitGroup
	running.Go(func() {
		if err := pods.Run(ctx); err != nil {
			panic(err)
		}
	})
	if err := pods.WaitForSync(ctx); err != nil {
		panic(err)
	}
	var names []string
	for pod := range pods.All() {
		names = append(names, pod.Name)
	}
	slices.Sort(names)
	fmt.Println(names)
	stop()
	running.Wait()
	// Output: [db web]
}

// Code that wants client-go's informers gets a typed one.
func ExampleSharedIndexInformer() {
	client := twoPods()

	pods := typed.NewInformer(kube.FromClient(client.CoreV1().Pods(metav1.NamespaceAll)))
	informer := adapters.SharedIndexInformer(pods)
	if err := informer.AddIndexers(indexers); err != nil {
		panic(err)
	}

	ctx, stop := context.WithCancel(context.Background())
	var running sync.WaitGroup
	running.Go(func() { informer.RunWithContext(ctx) })
	cache.WaitFor(ctx, "", informer.HasSyncedChecker())
	found, err := corev1listers.NewPodLister(informer.GetIndexer()).Pods("shop").List(labels.Everything())
	fmt.Println(len(found), err)
	stop()
	running.Wait()
	// Output: 2 <nil>
}

// Step 3 in a program with a factory.
func ExampleFromShared_factory() {
	config := &rest.Config{Host: "http://127.0.0.1:1"} // no server listens here

	factory := kube.NewFactory(config)
	defer factory.Shutdown()
	pods, err := kube.For[*corev1.Pod](factory, kube.WithNamespace("shop"))
	if err != nil {
		panic(err)
	}
	defer pods.Release()
	fmt.Println(pods.Status().Origin.Namespace)
	// Output: shop
}

// Detect code that modifies cached objects.
func ExampleDetectMutations() {
	client := twoPods()
	shared := adapters.NewSharedIndexInformer(podsOf(client), &corev1.Pod{}, resync, indexers)

	report := func(m observe.Mutation) { log.Print(m) }

	// An option of an informer, or of all those of a kube.Factory:
	pods := typed.NewInformer(kube.FromClient(client.CoreV1().Pods("shop")), observe.WithMutationDetection(time.Minute, report))

	// A drop-in informer before it is started, including one of a factory:
	err := adapters.DetectMutations(shared, time.Minute, report)

	fmt.Println(pods.Err(), err)
	// Output: <nil> <nil>
}
