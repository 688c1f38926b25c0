package ctrlruntime_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/priorityqueue"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/kubetyped/informer/adapters/ctrlruntime"
	"github.com/kubetyped/informer/index"
	"github.com/kubetyped/informer/internal/test/sinktest"
	"github.com/kubetyped/informer/queue"
	"github.com/kubetyped/informer/typed"
	"github.com/kubetyped/informer/typed/control"
)

// limited is the queue that a source is started with.
type limited = workqueue.TypedRateLimitingInterface[string]

// recording returns a handler that adds its calls to its queue, as words.
func recording() handler.TypedFuncs[*corev1.ConfigMap, string] {
	return handler.TypedFuncs[*corev1.ConfigMap, string]{
		CreateFunc: func(_ context.Context, e event.TypedCreateEvent[*corev1.ConfigMap], q limited) {
			q.Add(fmt.Sprint("create ", e.Object.Name, " initial: ", e.IsInInitialList))
		},
		UpdateFunc: func(_ context.Context, e event.TypedUpdateEvent[*corev1.ConfigMap], q limited) {
			q.Add(fmt.Sprint("update ", e.ObjectNew.Name, " from ", e.ObjectOld.ResourceVersion, " to ", e.ObjectNew.ResourceVersion))
		},
		DeleteFunc: func(_ context.Context, e event.TypedDeleteEvent[*corev1.ConfigMap], q limited) {
			q.Add(fmt.Sprint("delete ", e.Object.Name, " at ", e.Object.ResourceVersion, " unknown: ", e.DeleteStateUnknown))
		},
	}
}

func TestSourcePassesEventsOn(t *testing.T) {
	inScene(t, func(t *testing.T, s *scene) {
		q := newQueue(t)
		defer q.ShutDown()
		require.NoError(t, ctrlruntime.NewSource(s.informer, recording()).Start(s.ctx, q))
		sinktest.Replace(s.sink, "", []*corev1.ConfigMap{cm("a", 1)}, "1")
		synctest.Wait()
		assert.Equal(t, []got{{"create a initial: true", queue.LowPriority}}, work(t, q))
		sinktest.Put(s.sink, cm("b", 2), "2")
		sinktest.Put(s.sink, cm("a", 3), "3")
		synctest.Wait()
		assert.Equal(t, []got{{"create b initial: false", 0}, {"update a from 1 to 3", 0}}, work(t, q))
		sinktest.Put(s.sink, cm("a", 3), "3")
		sinktest.Delete(s.sink, cm("b", 4), "4")
		synctest.Wait()
		assert.Equal(t, []got{{"delete b at 4 unknown: false", 0}, {"update a from 3 to 3", queue.LowPriority}}, work(t, q))
		sinktest.Replace(s.sink, "", nil, "5")
		synctest.Wait()
		assert.Equal(t, []got{{"delete a at 3 unknown: true", 0}}, work(t, q))
	})
}

// TestSourceOfTheCacheInformer: the informer that a manager's cache shares feeds a controller.
func TestSourceOfTheCacheInformer(t *testing.T) {
	srv := startWithWidgets(t)
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "one", Name: "a"}}
	require.NoError(t, srv.Create(t.Context(), pod))
	c, err := ctrlruntime.NewCache(ctrlruntime.Typed[*corev1.Pod]())(srv.Config(), cache.Options{})
	require.NoError(t, err)
	pods, err := ctrlruntime.Informer[*corev1.Pod](c)
	require.NoError(t, err)
	q := workqueue.NewTypedRateLimitingQueue(workqueue.DefaultTypedControllerRateLimiter[reconcile.Request]())
	defer q.ShutDown()
	src := ctrlruntime.NewSource(pods, &handler.TypedEnqueueRequestForObject[*corev1.Pod]{})
	ctx := runCache(t, c)
	require.NoError(t, src.Start(ctx, q))
	require.NoError(t, src.WaitForSync(ctx))
	request, _ := q.Get()
	assert.Equal(t, client.ObjectKeyFromObject(pod), request.NamespacedName)
	pods.Release()
	require.ErrorIs(t, ctrlruntime.NewSource(pods, &handler.TypedEnqueueRequestForObject[*corev1.Pod]{}).Start(ctx, q), index.ErrReleased)
}

func TestSourceHeedsPredicates(t *testing.T) {
	inScene(t, func(t *testing.T, s *scene) {
		q := newQueue(t)
		defer q.ShutDown()
		named := predicate.NewTypedPredicateFuncs(func(m *corev1.ConfigMap) bool { return m.Name == "a" })
		changed := predicate.TypedResourceVersionChangedPredicate[*corev1.ConfigMap]{}
		require.NoError(t, ctrlruntime.NewSource(s.informer, recording(), named, changed).Start(s.ctx, q))
		sinktest.Replace(s.sink, "", []*corev1.ConfigMap{cm("a", 1), cm("b", 1)}, "1")
		sinktest.Put(s.sink, cm("a", 1), "1")
		sinktest.Put(s.sink, cm("b", 2), "2")
		sinktest.Delete(s.sink, cm("b", 3), "3")
		sinktest.Put(s.sink, cm("a", 4), "4")
		sinktest.Delete(s.sink, cm("a", 5), "5")
		synctest.Wait()
		assert.Equal(t, []got{
			{"update a from 1 to 4", 0}, {"delete a at 5 unknown: false", 0}, {"create a initial: true", queue.LowPriority},
		}, work(t, q))
	})
}

// TestSourceOfTypedHandlers: a typed handler can add keys to each kind of queue.
func TestSourceOfTypedHandlers(t *testing.T) {
	for name, test := range map[string]struct {
		make    func() workqueue.TypedRateLimitingInterface[index.Key]
		initial int
	}{
		"typed": {func() workqueue.TypedRateLimitingInterface[index.Key] {
			q, err := ctrlruntime.NewQueue[index.Key]()
			require.NoError(t, err)
			return q
		}, queue.LowPriority},
		"controller-runtime": {func() workqueue.TypedRateLimitingInterface[index.Key] { return priorityqueue.New[index.Key]("") }, queue.LowPriority},
		"client-go": {func() workqueue.TypedRateLimitingInterface[index.Key] {
			return workqueue.NewTypedRateLimitingQueue(workqueue.DefaultTypedControllerRateLimiter[index.Key]())
		}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			inScene(t, func(t *testing.T, s *scene) {
				q := test.make()
				defer q.ShutDown()
				src := ctrlruntime.NewHandlerSource(s.informer, control.Enqueue[*corev1.ConfigMap])
				require.NoError(t, src.Start(s.ctx, q))
				sinktest.Replace(s.sink, "", []*corev1.ConfigMap{cm("a", 1), cm("b", 1)}, "1")
				sinktest.Put(s.sink, cm("b", 2), "2")
				synctest.Wait()
				priority := 0
				next := func() (key index.Key) {
					require.Positive(t, q.Len())
					if p, ok := q.(priorityqueue.PriorityQueue[index.Key]); ok {
						key, priority, _ = p.GetWithPriority()
					} else {
						key, _ = q.Get()
					}
					return key
				}
				if test.initial != 0 {
					assert.Equal(t, "b", next().Name)
					assert.Zero(t, priority)
				} else {
					defer next()
				}
				assert.Equal(t, "a", next().Name)
				assert.Equal(t, test.initial, priority)
			})
		})
	}
}

func TestSourceWaitsUntilTheHandlerHasReturned(t *testing.T) {
	inScene(t, func(t *testing.T, s *scene) {
		q := newQueue(t)
		defer q.ShutDown()
		proceed := make(chan struct{})
		src := ctrlruntime.NewSource(s.informer, handler.TypedFuncs[*corev1.ConfigMap, string]{
			CreateFunc: func(context.Context, event.TypedCreateEvent[*corev1.ConfigMap], limited) { <-proceed },
		})
		require.NoError(t, src.Start(s.ctx, q), "it does not wait")
		waited := make(chan error, 1)
		go func() { waited <- src.WaitForSync(s.ctx) }()
		sinktest.Replace(s.sink, "", []*corev1.ConfigMap{cm("a", 1)}, "1")
		synctest.Wait()
		assert.Empty(t, waited)
		close(proceed)
		require.NoError(t, <-waited)
	})
}

func TestSourceReportsTheReasonOfNoSync(t *testing.T) {
	inScene(t, func(t *testing.T, s *scene) {
		q := newQueue(t)
		defer q.ShutDown()
		src := ctrlruntime.NewSource(s.informer, recording())
		require.ErrorContains(t, src.WaitForSync(s.ctx), "not started")
		require.NoError(t, src.Start(s.ctx, q))
		errForbidden := errors.New("config maps are forbidden")
		s.sink.Report(errForbidden)
		waiting, cancel := context.WithTimeout(s.ctx, time.Minute)
		defer cancel()
		err := src.WaitForSync(waiting)
		require.ErrorIs(t, err, context.DeadlineExceeded)
		require.ErrorIs(t, err, errForbidden)

		s.fail <- errors.New("gave up")
		err = src.WaitForSync(s.ctx)
		require.ErrorIs(t, err, typed.ErrStopped)
		assert.ErrorContains(t, err, "gave up")
	})
}

func TestSourceIsQuietWhenTheControllerStops(t *testing.T) {
	inScene(t, func(t *testing.T, s *scene) {
		q := newQueue(t)
		defer q.ShutDown()
		src := ctrlruntime.NewSource(s.informer, recording())
		require.NoError(t, src.Start(s.ctx, q))
		waited := make(chan error, 1)
		go func() { waited <- src.WaitForSync(s.ctx) }()
		synctest.Wait()
		s.stop()
		require.NoError(t, <-waited)
	})
}

func TestSourceRemovesItsHandlerWhenTheControllerStops(t *testing.T) {
	inScene(t, func(t *testing.T, s *scene) {
		q := newQueue(t)
		defer q.ShutDown()
		require.NoError(t, ctrlruntime.NewSource(s.informer, recording()).Start(s.ctx, q))
		sinktest.Replace(s.sink, "", nil, "1")
		synctest.Wait()
		require.Len(t, s.Status().Handlers, 1)
		s.stop()
		synctest.Wait()
		assert.Empty(t, s.Status().Handlers)
		sinktest.Put(s.sink, cm("a", 2), "2")
		synctest.Wait()
		assert.Zero(t, q.Len())
	})
}

func TestSourcePassesOptionsOn(t *testing.T) {
	inScene(t, func(t *testing.T, s *scene) {
		q := newQueue(t)
		defer q.ShutDown()
		require.NoError(t, ctrlruntime.NewSource(s.informer, recording()).Start(s.ctx, q))
		src := ctrlruntime.NewSource(s.informer, recording()).With(typed.WithDelivery(typed.Coalesce()), typed.WithHandlerName("mine"))
		require.NoError(t, src.Start(s.ctx, q))
		handlers := s.Status().Handlers
		require.Len(t, handlers, 2)
		assert.Equal(t, "handler.TypedFuncs[*k8s.io/api/core/v1.ConfigMap,string]", handlers[0].Name)
		assert.Equal(t, "mine", handlers[1].Name)
		assert.Equal(t, typed.Coalesce().String(), handlers[1].Delivery)
		assert.Equal(t, "typed informer source: config maps", src.String())
	})
}

// TestSourceAddsKeysAtTheShorterDelay: to a queue without priorities, too.
func TestSourceAddsKeysAtTheShorterDelay(t *testing.T) {
	inScene(t, func(t *testing.T, s *scene) {
		q := workqueue.NewTypedRateLimitingQueue[string](workqueue.NewTypedItemExponentialFailureRateLimiter[string](time.Minute, time.Hour))
		defer q.ShutDown()
		options := queue.AddOptions{RateLimited: true, After: time.Second}
		src := ctrlruntime.NewHandlerSource(s.informer, func(to control.Adder[string]) typed.Handler[*corev1.ConfigMap] {
			return typed.HandlerFuncs[*corev1.ConfigMap]{AddFunc: func(o *corev1.ConfigMap, _ bool) { to.AddWithOptions(o.Name, options) }}
		})
		require.NoError(t, src.Start(s.ctx, q))
		sinktest.Replace(s.sink, "", []*corev1.ConfigMap{cm("a", 1)}, "1")
		began := time.Now()
		key, _ := q.Get()
		q.Done(key)
		assert.Equal(t, time.Second, time.Since(began).Round(100*time.Millisecond))
		assert.Equal(t, 1, q.NumRequeues("a"), "the rate limiter counts")
		time.Sleep(time.Hour)
		assert.Zero(t, q.Len(), "the key is added once")
	})
}

func TestUnstartableSource(t *testing.T) {
	newHandler := func(control.Adder[string]) typed.Handler[*corev1.ConfigMap] {
		return typed.HandlerFuncs[*corev1.ConfigMap]{}
	}
	inScene(t, func(t *testing.T, s *scene) {
		q := newQueue(t)
		defer q.ShutDown()
		require.ErrorContains(t, ctrlruntime.NewSource((*informer)(nil), recording()).Start(s.ctx, q), "informer is nil")
		for want, src := range map[string]*ctrlruntime.Source[*corev1.ConfigMap, string]{
			"informer is nil":         ctrlruntime.NewSource[*corev1.ConfigMap, string](nil, recording()),
			"handler is nil":          ctrlruntime.NewSource[*corev1.ConfigMap, string](s.informer, nil),
			"predicate is nil":        ctrlruntime.NewSource(s.informer, recording(), nil),
			"handler function is nil": ctrlruntime.NewHandlerSource[*corev1.ConfigMap, string](s.informer, nil),
			"config maps: handler":    ctrlruntime.NewHandlerSource(s.informer, func(control.Adder[string]) typed.Handler[*corev1.ConfigMap] { return nil }),
			"option is nil":           ctrlruntime.NewHandlerSource(s.informer, newHandler).With(nil),
		} {
			require.ErrorContains(t, src.Start(s.ctx, q), want)
			require.ErrorContains(t, src.WaitForSync(s.ctx), "not started")
			assert.Contains(t, src.String(), "typed informer source")
		}
		src := ctrlruntime.NewHandlerSource(s.informer, newHandler)
		require.ErrorContains(t, src.Start(s.ctx, nil), "queue is nil")
		require.NoError(t, src.Start(s.ctx, q), "it can be tried again")
		require.ErrorContains(t, src.Start(s.ctx, q), "started before")

		s.fail <- errors.New("gave up")
		synctest.Wait()
		require.ErrorIs(t, ctrlruntime.NewSource(s.informer, recording()).Start(s.ctx, q), typed.ErrStopped)
	})
}

func TestRequestsOfNoQueue(t *testing.T) {
	assert.Nil(t, ctrlruntime.Requests(nil))
}
