package queue_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/workqueue"

	"github.com/kubetyped/informer/queue"
)

// A worker's loop, as with client-go's queue, whose interface this one has.
func ExampleNewWorkQueue() {
	var pods workqueue.TypedRateLimitingInterface[cache.ObjectName]
	pods, err := queue.NewWorkQueue[cache.ObjectName](queue.WithName("pods"))
	if err != nil {
		fmt.Println(err)
		return
	}
	pods.Add(cache.ObjectName{Namespace: "shop", Name: "web-1"})
	pods.Add(cache.ObjectName{Namespace: "shop", Name: "db-0"})
	pods.Add(cache.ObjectName{Namespace: "shop", Name: "web-1"})
	pods.ShutDown() // in a program, when it ends

	for {
		key, shutDown := pods.Get()
		if shutDown {
			return
		}
		fmt.Println("processing", key)
		pods.Forget(key)
		pods.Done(key)
	}
	// Output:
	// processing shop/web-1
	// processing shop/db-0
}

// The error that the function returns decides whether and when its key is processed again.
func ExampleWorkQueue_Run() {
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	jobs, err := queue.NewWorkQueue[string]()
	if err != nil {
		fmt.Println(err)
		return
	}
	jobs.Add("backup")

	tries := 0
	err = jobs.Run(ctx, 1, func(_ context.Context, key string) error {
		tries++
		switch tries {
		case 1:
			fmt.Println(key, "has failed, so it is tried again")
			return errors.New("the disk is busy")
		case 2:
			fmt.Println(key, "is under way, so look at it again in a moment")
			return queue.RequeueAfter(time.Millisecond)
		default:
			fmt.Println(key, "is done")
			stop() // in a program, a signal does
			return nil
		}
	})
	fmt.Println("ended:", err)
	// Output:
	// backup has failed, so it is tried again
	// backup is under way, so look at it again in a moment
	// backup is done
	// ended: <nil>
}

// A signal that ends a context can make the workers finish what waits, with
// another context for those that take too long.
func ExampleWorkQueue_ShutDownWithDrain() {
	signals, signal := context.WithCancel(context.Background()) // in a program, signal.NotifyContext
	defer signal()
	jobs, err := queue.NewWorkQueue[int]()
	if err != nil {
		fmt.Println(err)
		return
	}
	for i := range 3 {
		jobs.Add(i)
	}

	running, abort := context.WithCancel(context.Background())
	defer abort()
	defer context.AfterFunc(signals, func() {
		time.AfterFunc(time.Minute, abort)
		jobs.ShutDownWithDrain()
	})()
	err = jobs.Run(running, 1, func(ctx context.Context, i int) error {
		signal()
		fmt.Println("job", i, "context:", ctx.Err())
		return nil
	})
	fmt.Println("ended:", err, "left:", jobs.Len())
	// Output:
	// job 0 context: <nil>
	// job 1 context: <nil>
	// job 2 context: <nil>
	// ended: <nil> left: 0
}

// Unchanged keys can wait for changed ones.
func ExampleWorkQueue_AddWithOptions() {
	pods, err := queue.NewWorkQueue[string]()
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, key := range []string{"listed-1", "listed-2", "listed-3"} {
		pods.AddWithOptions(key, queue.AddOptions{Priority: queue.LowPriority})
	}
	pods.Add("changed")
	pods.Add("listed-3") // it has changed, too
	pods.AddWithOptions("urgent", queue.AddOptions{Priority: 10})

	for pods.Len() > 0 {
		key, _ := pods.Get()
		fmt.Println(key)
		pods.Done(key)
	}
	// Output:
	// urgent
	// changed
	// listed-3
	// listed-1
	// listed-2
}

// One namespace with many keys does not hold up the others.
func ExampleWithFairness() {
	pods, err := queue.NewWorkQueue[cache.ObjectName](
		queue.WithFairness(func(key cache.ObjectName) string { return key.Namespace }),
	)
	if err != nil {
		fmt.Println(err)
		return
	}
	for i := range 1000 {
		pods.Add(cache.ObjectName{Namespace: "large", Name: fmt.Sprint("pod-", i)})
	}
	pods.Add(cache.ObjectName{Namespace: "small", Name: "pod-0"})

	for range 3 {
		key, _ := pods.Get()
		fmt.Println(key)
		pods.Done(key)
	}
	fmt.Println(pods.Len(), "wait")
	// Output:
	// large/pod-0
	// small/pod-0
	// large/pod-1
	// 998 wait
}
