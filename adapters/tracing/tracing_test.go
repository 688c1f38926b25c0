package tracing_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubetyped/informer/adapters/tracing"
	"github.com/kubetyped/informer/index"
	"github.com/kubetyped/informer/internal/test/sinktest"
	"github.com/kubetyped/informer/queue"
	"github.com/kubetyped/informer/typed"
	"github.com/kubetyped/informer/typed/control"
	"github.com/kubetyped/informer/typed/source"
)

// TestTrace follows one event to the call that reconciles its key.
func TestTrace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		r.enqueue()
		sink := r.start()
		began := time.Now()
		obj := newMap("a", "2")
		obj.ManagedFields = []metav1.ManagedFieldsEntry{
			{Manager: "helm", Time: &metav1.Time{Time: began.Add(-time.Hour)}},
			{Manager: "kubectl", Subresource: "status", Time: &metav1.Time{Time: began.Add(-2 * time.Second)}},
		}
		sinktest.Put(sink, obj, "2")
		synctest.Wait()
		time.Sleep(3 * time.Second) // no worker yet
		running(t, func(ctx context.Context) error {
			return r.keys.Run(ctx, 1, func(ctx context.Context, key index.Key) error {
				time.Sleep(time.Second)
				assert.True(t, trace.SpanContextFromContext(ctx).IsSampled())
				return nil
			})
		})
		time.Sleep(2 * time.Second)

		require.Equal(t, []string{"receive ConfigMap", "  handle ConfigMap", "    queue maps", "    reconcile maps", "  store"}, r.spans())
		assert.Equal(t, map[string]string{
			"k8s.object.kind": "ConfigMap", "k8s.namespace.name": "default", "k8s.object.name": "a", "k8s.object.resource_version": "2",
			"k8s.server.time": began.Add(-2 * time.Second).UTC().Format(time.RFC3339), "k8s.server.age_seconds": "2",
			"k8s.server.manager": "kubectl", "k8s.server.subresource": "status", "kubetyped.event": "Put",
		}, attributes(r.find("receive ConfigMap")))
		assert.Equal(t, "enqueue Added 2", fmt.Sprint(attributes(r.find("handle ConfigMap"))["kubetyped.handler"], " ",
			attributes(r.find("handle ConfigMap"))["kubetyped.event"], " ", attributes(r.find("handle ConfigMap"))["k8s.object.resource_version"]))
		waited, reconciled := r.find("queue maps"), r.find("reconcile maps")
		assert.Equal(t, 3*time.Second, waited.EndTime.Sub(waited.StartTime))
		assert.Equal(t, time.Second, reconciled.EndTime.Sub(reconciled.StartTime))
		assert.Equal(t, map[string]string{"kubetyped.queue": "maps", "kubetyped.key": "default/a", "kubetyped.priority": "0"}, attributes(waited))
		assert.Equal(t, map[string]string{"kubetyped.queue": "maps", "kubetyped.key": "default/a", "kubetyped.events": "1", "kubetyped.attempt": "1"}, attributes(reconciled))
		require.Len(t, reconciled.Links, 1)
		assert.Equal(t, r.find("handle ConfigMap").SpanContext.SpanID(), reconciled.Links[0].SpanContext.SpanID())
		assert.Equal(t, "0 0", fmt.Sprint(r.events.Underway(), " ", r.keys.Underway()), "all is forgotten")
	})
}

// TestEventsOfOneKey: a key to which several events have led has links to all of them, and
// counts those that are too many.
func TestEventsOfOneKey(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		r.enqueue()
		sink := r.start()
		for version := range 20 {
			sinktest.Put(sink, newMap("a", fmt.Sprint(version+2)), fmt.Sprint(version+2))
			synctest.Wait()
		}
		running(t, func(ctx context.Context) error {
			return r.keys.Run(ctx, 1, func(context.Context, index.Key) error { return nil })
		})
		synctest.Wait()
		reconciled := r.find("reconcile maps")
		assert.Len(t, reconciled.Links, 16)
		assert.Equal(t, "20 4", attributes(reconciled)["kubetyped.events"]+" "+attributes(reconciled)["kubetyped.events_left_out"])
	})
}

// TestAttempts: a key that fails keeps the trace of its event until it succeeds.
func TestAttempts(t *testing.T) {
	for name, test := range map[string]struct {
		outcome  func(call int) error
		calls    int
		statuses []codes.Code
		requeue  string
	}{
		"fails twice": {func(call int) error { return []error{errors.New("one"), errors.New("two"), nil}[min(call, 2)] }, 3, []codes.Code{codes.Error, codes.Error, codes.Unset}, ""},
		"panics": {func(call int) error {
			return []func() error{func() error { panic("one") }, func() error { return nil }}[min(call, 1)]()
		}, 2, []codes.Code{codes.Error, codes.Unset}, ""},
		"fails for ever":    {func(int) error { return queue.TerminalError(errors.New("bad")) }, 1, []codes.Code{codes.Error}, ""},
		"is to be repeated": {func(call int) error { return []error{queue.RequeueAfter(time.Second), nil}[min(call, 1)] }, 2, []codes.Code{codes.Unset}, "1"},
		"never succeeds":    {func(int) error { return errors.New("no") }, 14, make([]codes.Code, 10), ""},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := newRig(t)
				r.enqueue()
				sink := r.start()
				calls := 0
				running(t, func(ctx context.Context) error {
					return r.keys.Run(ctx, 1, func(context.Context, index.Key) error {
						calls++
						return test.outcome(calls - 1)
					})
				})
				sinktest.Put(sink, newMap("a", "2"), "2")
				time.Sleep(time.Minute)
				synctest.Wait()
				assert.GreaterOrEqual(t, calls, test.calls)
				var statuses []codes.Code
				for _, s := range r.exporter.GetSpans() {
					if s.Name != "reconcile maps" {
						continue
					}
					statuses = append(statuses, s.Status.Code)
					assert.Equal(t, fmt.Sprint(len(statuses)), attributes(s)["kubetyped.attempt"])
					assert.Equal(t, test.requeue, attributes(s)["kubetyped.requeue_after_seconds"])
					assert.Equal(t, r.find("handle ConfigMap").SpanContext.TraceID(), s.SpanContext.TraceID())
				}
				if name == "never succeeds" {
					assert.Len(t, statuses, 10, "a trace does not grow for ever")
				} else {
					assert.Equal(t, test.statuses, statuses)
				}
				assert.Zero(t, r.keys.Underway())
			})
		})
	}
}

// TestPriorityOfAttempts: a key that fails waits with the higher priority of an event that has come
// meanwhile.
func TestPriorityOfAttempts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		_, err := r.informer.Handle(tracing.Enqueue(r.events, r.keys, func(q control.Adder[index.Key]) typed.Handler[*corev1.ConfigMap] {
			return typed.HandlerFuncs[*corev1.ConfigMap]{
				AddFunc: func(obj *corev1.ConfigMap, _ bool) {
					q.AddWithOptions(index.KeyOf(obj), queue.AddOptions{Priority: -5})
				},
				UpdateFunc: func(_, obj *corev1.ConfigMap) {
					q.AddWithOptions(index.KeyOf(obj), queue.AddOptions{Priority: -3})
				},
			}
		}))
		require.NoError(t, err)
		sink := r.start()
		calls := 0
		running(t, func(ctx context.Context) error {
			return r.keys.Run(ctx, 1, func(context.Context, index.Key) error {
				if calls++; calls > 1 {
					return nil
				}
				time.Sleep(time.Second) // the second event comes
				return errors.New("once")
			})
		})
		sinktest.Put(sink, newMap("a", "2"), "2")
		synctest.Wait()
		sinktest.Put(sink, newMap("a", "3"), "3")
		time.Sleep(time.Minute)
		synctest.Wait()
		var priorities []string
		for _, s := range r.exporter.GetSpans() {
			if s.Name == "queue maps" {
				priorities = append(priorities, attributes(s)["kubetyped.priority"])
			}
		}
		assert.Equal(t, []string{"-5", "-3"}, priorities)
	})
}

// TestHandlers: each handler has its span, also with Coalesce, and a panic is one of it.
func TestHandlers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		release := make(chan struct{})
		var told []string
		_, err := r.informer.Handle(tracing.Handler(r.events, typed.Handler[*corev1.ConfigMap](typed.HandlerFuncs[*corev1.ConfigMap]{
			AddFunc:    func(obj *corev1.ConfigMap, _ bool) { told = append(told, "+"+obj.ResourceVersion); <-release },
			UpdateFunc: func(_, obj *corev1.ConfigMap) { told = append(told, obj.ResourceVersion) },
			DeleteFunc: func(typed.Deleted[*corev1.ConfigMap]) { told = append(told, "-") },
		})), typed.WithDelivery(typed.Coalesce()), typed.WithResync(time.Hour))
		require.NoError(t, err)
		r.enqueue()
		sink := r.start()
		sinktest.Put(sink, newMap("a", "2"), "2")
		synctest.Wait()
		sinktest.Put(sink, newMap("a", "3"), "3")
		sinktest.Put(sink, newMap("a", "4"), "4")
		synctest.Wait()
		close(release)
		synctest.Wait()
		time.Sleep(time.Hour + time.Minute) // a resync
		synctest.Wait()
		sinktest.Delete(sink, newMap("a", "5"), "5")
		synctest.Wait()
		assert.Equal(t, []string{"+2", "4", "4", "-"}, told)
		links := map[string]int{}
		for _, s := range r.exporter.GetSpans() {
			if a := attributes(s); a["kubetyped.handler"] != "" {
				links[a["kubetyped.handler"]+" "+a["kubetyped.event"]+" "+a["k8s.object.resource_version"]] = len(s.Links)
			}
		}
		assert.Equal(t, map[string]int{
			"enqueue Added 2": 0, "enqueue Updated 3": 0, "enqueue Updated 4": 0, "enqueue Deleted 5": 0,
			"functions Added 2": 0, "functions Updated 4": 1, "functions Deleted 5": 0,
		}, links)
		assert.Zero(t, r.events.Underway())
	})
}

// TestDeletionByAList: the call for an object that a list did not have is not for the event of a
// later one of the name.
func TestDeletionByAList(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		release := make(chan struct{})
		_, err := r.informer.Handle(tracing.Handler(r.events, typed.Handler[*corev1.ConfigMap](typed.HandlerFuncs[*corev1.ConfigMap]{
			AddFunc: func(*corev1.ConfigMap, bool) { <-release },
		})))
		require.NoError(t, err)
		sink := r.start()
		sinktest.Put(sink, newMap("a", "2"), "2")
		synctest.Wait()
		sinktest.Replace(sink, "", nil, "3")
		sinktest.Put(sink, newMap("a", "4"), "4")
		synctest.Wait()
		close(release)
		synctest.Wait()
		var handled []string
		for _, s := range r.exporter.GetSpans() {
			if s.Name == "handle ConfigMap" {
				handled = append(handled, attributes(s)["kubetyped.event"]+" "+attributes(s)["k8s.object.resource_version"])
			}
		}
		assert.Equal(t, []string{"Added 2", "Added 4"}, handled)
	})
}

// TestHandlerThatPanics: the span says so, and the panic is that of the handler.
func TestHandlerThatPanics(t *testing.T) {
	r := newRig(t)
	h := tracing.Handler(r.events, typed.Handler[*corev1.ConfigMap](typed.HandlerFuncs[*corev1.ConfigMap]{
		AddFunc: func(*corev1.ConfigMap, bool) { panic("no") },
	}))
	sinktest.Put(r.start(), newMap("a", "2"), "2")
	assert.PanicsWithValue(t, "no", func() { h.OnAdd(newMap("a", "2"), false) })
	assert.Equal(t, "the handler has panicked", r.find("handle ConfigMap").Status.Description)
}

// TestUnusable: adding a handler or making a queue returns the error of wrong arguments.
func TestUnusable(t *testing.T) {
	r := newRig(t)
	enqueue := func(q control.Adder[index.Key]) typed.Handler[*corev1.ConfigMap] {
		return control.Enqueue[*corev1.ConfigMap](q)
	}
	for message, h := range map[string]typed.Handler[*corev1.ConfigMap]{
		"queue is nil":            tracing.Enqueue(r.events, nil, enqueue),
		"handler is nil":          tracing.Handler[*corev1.ConfigMap](r.events, nil),
		"handler function is nil": tracing.Enqueue[*corev1.ConfigMap](r.events, r.keys, nil),
	} {
		_, err := r.informer.Handle(h)
		assert.ErrorContains(t, err, message)
	}
	var none *queue.WorkQueue[index.Key]
	_, err := tracing.NewQueue(r.tracer, "maps", none)
	assert.ErrorContains(t, err, "queue is nil")
	for _, opt := range []tracing.Option{nil, tracing.WithSampling(0), tracing.WithRate(-1), tracing.WithBounds(0, time.Second),
		tracing.WithBounds(1, 0), tracing.WithTracerProvider(nil), tracing.WithPropagator(nil)} {
		_, err := tracing.New(opt)
		assert.ErrorContains(t, err, "tracing: ")
	}
	src, _ := tracing.Source(r.tracer, source.Source[*corev1.ConfigMap](nil))
	assert.ErrorContains(t, typed.NewInformer(src).Run(t.Context()), "nil")
}

// TestKeysOfOtherCalls: a key that a handler adds for an event without a trace has no trace.
func TestKeysOfOtherCalls(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		r.enqueue()
		sink := r.start()
		sinktest.Put(sink, newMap("a", "2"), "2")
		synctest.Wait()
		sinktest.Replace(sink, "", []*corev1.ConfigMap{newMap("a", "2"), newMap("b", "3")}, "3")
		synctest.Wait()
		assert.Equal(t, "2 1", fmt.Sprint(r.queue.Len(), " ", r.keys.Underway()))
	})
}
