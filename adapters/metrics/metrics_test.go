package metrics_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"

	"github.com/kubetyped/informer/adapters/metrics"
	"github.com/kubetyped/informer/index"
	"github.com/kubetyped/informer/internal/test/sinktest"
	"github.com/kubetyped/informer/queue"
	"github.com/kubetyped/informer/typed"
	"github.com/kubetyped/informer/typed/observe"
	"github.com/kubetyped/informer/typed/report"
	"github.com/kubetyped/informer/typed/source"
)

// TestInformer reads the metrics of one that runs.
func TestInformer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		start := float64(time.Now().Unix())
		src := newScripted("apps", "Deployment")
		informer := typed.NewInformer[*corev1.ConfigMap](src, observe.WithCallTimes())
		byName := index.New("name", func(o *corev1.ConfigMap) []string { return []string{o.Name} })
		require.NoError(t, informer.AddIndexes(byName))
		hold := make(chan struct{})
		_, err := informer.Handle(typed.HandlerFuncs[*corev1.ConfigMap]{AddFunc: func(o *corev1.ConfigMap, _ bool) {
			time.Sleep(2 * time.Second)
			if o.Name == "cm-2" {
				<-hold
			}
		}}, typed.WithHandlerName("slow"))
		require.NoError(t, err)
		r, _ := newMetrics(t, metrics.WithInformers(informer), metrics.WithIndexSizes())
		const l = `{group="apps",kind="Deployment"}`
		got := gather(t, r)
		assert.EqualValues(t, 1, got[`kubetyped_informers{group="apps",kind="Deployment",phase="New"}`])
		assert.NotContains(t, got, "kubetyped_informer_last_contact_timestamp_seconds"+l, "it had none")

		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error)
		go func() { ended <- informer.Run(ctx) }()
		sink := <-src.sinks
		sinktest.Replace(sink, "", configMaps(3), "3")
		time.Sleep(7 * time.Second)
		synctest.Wait()
		got = gather(t, r)
		assert.EqualValues(t, 0, got[`kubetyped_informers{group="apps",kind="Deployment",phase="New"}`])
		assert.EqualValues(t, 1, got[`kubetyped_informers{group="apps",kind="Deployment",phase="Synced"}`])
		assert.EqualValues(t, 3, got["kubetyped_informer_objects"+l])
		assert.EqualValues(t, 3, got["kubetyped_informer_events_total"+l])
		assert.InDelta(t, start, got["kubetyped_informer_last_contact_timestamp_seconds"+l], 1)
		assert.EqualValues(t, 1, got["kubetyped_informer_handlers"+l])
		assert.EqualValues(t, 1, got["kubetyped_informer_handler_backlog"+l])
		assert.EqualValues(t, 2, got["kubetyped_informer_handler_call_duration_seconds_count"+l])
		assert.InDelta(t, 4, got["kubetyped_informer_handler_call_duration_seconds_sum"+l], 0.01)
		assert.InDelta(t, 3, got["kubetyped_informer_handler_current_call_seconds"+l], 0.01)
		assert.EqualValues(t, 3, got[`kubetyped_informer_index_keys{group="apps",index="name",kind="Deployment"}`])
		assert.EqualValues(t, 1, got[`kubetyped_informer_index_largest_key_objects{group="apps",index="name",kind="Deployment"}`])
		assert.EqualValues(t, 0, got["kubetyped_informer_handlers_stuck"+l])

		time.Sleep(10 * time.Minute)
		assert.EqualValues(t, 1, gather(t, r)["kubetyped_informer_handlers_stuck"+l])
		close(hold)
		cancel()
		require.NoError(t, <-ended)
		got = gather(t, r)
		assert.EqualValues(t, 1, got[`kubetyped_informers{group="apps",kind="Deployment",phase="Stopped"}`])
		assert.NotContains(t, got, "kubetyped_informer_last_contact_timestamp_seconds"+l, "it is no wonder")
	})
}

// TestContactOfViews: views export no last contact, as they are silent while nothing changes.
func TestContactOfViews(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		src := newScripted("", "")
		src.origin = source.Origin{Selection: "view of Pods"}
		informer := typed.NewInformer[*corev1.ConfigMap](src)
		r, _ := newMetrics(t, metrics.WithInformers(informer))
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error)
		go func() { ended <- informer.Run(ctx) }()
		sink := <-src.sinks
		sinktest.Replace(sink, "", configMaps(3), "3")
		synctest.Wait()
		assert.False(t, informer.Status().LastContact.IsZero())
		events := 0
		for name, value := range gather(t, r) {
			assert.NotContains(t, name, "last_contact")
			if strings.HasPrefix(name, "kubetyped_informer_events_total") {
				events += int(value)
			}
		}
		assert.Equal(t, 3, events)
		cancel()
		require.NoError(t, <-ended)
	})
}

// TestFactory: informers of a factory appear and disappear in the metrics.
func TestFactory(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := typed.NewFactory()
		defer f.Shutdown()
		r, _ := newMetrics(t, metrics.WithFactories(f))
		assert.NotContains(t, gather(t, r), `kubetyped_informer_objects{group="",kind="Pod"}`)

		use := func(src *scripted, objects int) *typed.SharedInformer[*corev1.ConfigMap] {
			shared, err := typed.Share(f, src.origin.Kind.Kind, func() source.Source[*corev1.ConfigMap] { return src })
			require.NoError(t, err)
			sink := <-src.sinks
			sinktest.Replace(sink, "", configMaps(objects), "9")
			synctest.Wait()
			return shared
		}
		pods := use(newScripted("", "Pod"), 3)
		nodes := use(newScripted("", "Node"), 5)
		got := gather(t, r)
		assert.EqualValues(t, 3, got[`kubetyped_informer_objects{group="",kind="Pod"}`])
		assert.EqualValues(t, 5, got[`kubetyped_informer_objects{group="",kind="Node"}`])
		pods.Release()
		synctest.Wait()
		got = gather(t, r)
		assert.NotContains(t, got, `kubetyped_informer_objects{group="",kind="Pod"}`)
		assert.NotContains(t, got, `kubetyped_informer_events_total{group="",kind="Pod"}`)
		assert.EqualValues(t, 5, got[`kubetyped_informer_objects{group="",kind="Node"}`])
		nodes.Release()
	})
}

// TestOneSeriesAKind joins a hundred informers of one kind, and others with other labels.
func TestOneSeriesAKind(t *testing.T) {
	var all []typed.AnyInformer
	now := time.Unix(1_000_000, 0)
	for i := range 100 {
		f := newFake("", "Pod", fmt.Sprint("pods-", i))
		f.status.Objects, f.status.Events = i, 2*i
		f.status.LastContact, f.status.LastEvent = now.Add(time.Duration(i)*time.Second), now.Add(time.Duration(i)*time.Second)
		f.status.Budget = report.Budget{Objects: 100, Used: float64(i) / 100, HeapBytes: 1000}
		f.status.FactoryBudget = report.Budget{Objects: 1000, Used: float64(i) / 1000}
		f.status.Failed, f.status.FailedLists, f.status.FailedWatches = 7, 2, 1
		f.status.Handlers = []report.Handler{{Name: fmt.Sprint("handler-", i), Backlog: 1, Panics: 1}, {Name: "other", Stuck: true}}
		all = append(all, f)
	}
	all[7].(*fake).status.Failures = 3
	all[7].(*fake).status.Since = now
	other := newFake("apps", "Deployment", "deployments")
	other.status.Objects = 7
	r, _ := newMetrics(t, metrics.WithInformers(all...), metrics.WithInformers(other), metrics.WithInformers(all[3], other),
		metrics.WithFactories(&changing{now: []typed.AnyInformer{other, nil, odd{}}}))
	got := gather(t, r)
	const l = `{group="",kind="Pod"}`
	for name, want := range map[string]float64{
		"objects": 4950, "events_total": 9900, "handlers": 200, "handler_backlog": 100, "handler_panics_total": 100, "handlers_stuck": 100,
		"consecutive_failures": 3, "failing": 1, "first_failure_timestamp_seconds": 1_000_000, "heap_bytes": 100_000, "budget_used_ratio": 0.99,
		"failures_total": 700, "failed_lists_total": 200, "failed_watches_total": 100,
		"last_contact_timestamp_seconds": 1_000_000, "last_event_timestamp_seconds": 1_000_099,
	} {
		assert.InDelta(t, want, got["kubetyped_informer_"+name+l], 1e-9, name)
	}
	assert.InDelta(t, 0.099, got["kubetyped_factory_budget_used_ratio"], 1e-9, "of the factory that uses most")
	assert.EqualValues(t, 7, got[`kubetyped_informer_objects{group="apps",kind="Deployment"}`], "they never mix")
	assert.NotContains(t, got, `kubetyped_informer_budget_used_ratio{group="apps",kind="Deployment"}`, "it has none")
	assert.Less(t, len(got), 80)

	r, _ = newMetrics(t, metrics.WithInformers(all...), metrics.WithInformerNames(), metrics.WithHandlerNames())
	got = gather(t, r)
	assert.EqualValues(t, 42, got[`kubetyped_informer_objects{group="",informer="pods-42",kind="Pod"}`])
	assert.EqualValues(t, 1, got[`kubetyped_informer_handler_backlog{group="",handler="handler-42",informer="pods-42",kind="Pod"}`])
}

// TestCountersNeverFall starts and ends informers and handlers of one kind.
func TestCountersNeverFall(t *testing.T) {
	a, b := newFake("", "Pod", "a"), newFake("", "Pod", "b")
	times := func(calls uint64) *report.CallTimes {
		var c report.CallTimes
		c.Counts[2], c.Sum = calls, time.Duration(calls)*time.Second
		return &c
	}
	a.status.Events, b.status.Events = 10, 100
	a.status.Handlers = []report.Handler{{Name: "h", Panics: 3, Times: times(3)}, {Name: "h", Panics: 5, Times: times(5)}}
	list := &changing{}
	r, _ := newMetrics(t, metrics.WithFactories(list))
	told := func() (events, panics, calls float64) {
		got := gather(t, r)
		const l = `{group="",kind="Pod"}`
		return got["kubetyped_informer_events_total"+l], got["kubetyped_informer_handler_panics_total"+l], got["kubetyped_informer_handler_call_duration_seconds_count"+l]
	}
	check := func(wantEvents, wantPanics, wantCalls float64) {
		t.Helper()
		events, panics, calls := told()
		assert.Equal(t, []float64{wantEvents, wantPanics, wantCalls}, []float64{events, panics, calls})
	}
	list.are(a, b)
	check(110, 8, 8)
	check(110, 8, 8)
	a.status.Events = 15
	list.are(a)
	check(115, 8, 8)
	list.are(a, b)
	b.status.Events = 1 // as another one
	check(116, 8, 8)
	a.status.Handlers = a.status.Handlers[:1]
	a.status.Handlers[0].Panics, a.status.Handlers[0].Times = 1, times(2) // it was replaced
	check(116, 9, 10)
	list.are()
	check(0, 0, 0)
	list.are(a)
	check(15, 1, 2)
}

// TestPackedCountersStay: the counters of objects that are kept as bytes do not fall when there are
// none for a while.
func TestPackedCountersStay(t *testing.T) {
	f := newFake("", "Pod", "pods")
	r, _ := newMetrics(t, metrics.WithInformers(f, newFake("", "Node", "nodes")))
	decodes := func(objects int, decoded uint64) samples {
		f.heap.Packed = report.Packed{}
		if objects > 0 {
			f.heap.Packed = report.Packed{Objects: objects, Decoded: decoded, Decoding: time.Duration(decoded) * time.Second}
		}
		return gather(t, r)
	}
	const count, seconds = `kubetyped_informer_packed_decodes_total`, `kubetyped_informer_packed_decode_seconds_total`
	assert.NotContains(t, decodes(0, 0), count+`{group="",kind="Pod"}`, "it has had none")
	assert.EqualValues(t, 100, decodes(2, 100)[count+`{group="",kind="Pod"}`])
	got := decodes(0, 0)
	assert.EqualValues(t, 100, got[count+`{group="",kind="Pod"}`])
	assert.EqualValues(t, 100, got[seconds+`{group="",kind="Pod"}`])
	got = decodes(1, 101)
	assert.EqualValues(t, 101, got[count+`{group="",kind="Pod"}`])
	assert.EqualValues(t, 101, got[seconds+`{group="",kind="Pod"}`])
	assert.NotContains(t, got, count+`{group="",kind="Node"}`)
}

// TestRemovedHandler: when a handler is removed, the calls of others of its name are not counted
// again.
func TestRemovedHandler(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		src := newScripted("apps", "Deployment")
		informer := typed.NewInformer[*corev1.ConfigMap](src, observe.WithCallTimes())
		handle := func() *typed.Registration {
			registration, err := informer.Handle(typed.HandlerFuncs[*corev1.ConfigMap]{}, typed.WithHandlerName("same"))
			require.NoError(t, err)
			return registration
		}
		r, _ := newMetrics(t, metrics.WithInformers(informer))
		calls := func() int {
			synctest.Wait()
			return int(gather(t, r)[`kubetyped_informer_handler_call_duration_seconds_count{group="apps",kind="Deployment"}`])
		}
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error)
		go func() { ended <- informer.Run(ctx) }()
		sink := <-src.sinks
		first := handle()
		sinktest.Replace(sink, "", configMaps(3), "3")
		assert.Equal(t, 3, calls())
		sinktest.Replace(sink, "", configMaps(1), "4")
		before := calls()
		second := handle()
		assert.Equal(t, before+1, calls())
		first.Close()
		assert.Equal(t, before+1, calls())
		handle()
		assert.Equal(t, before+2, calls())
		second.Close()
		assert.Equal(t, before+2, calls())
		cancel()
		require.NoError(t, <-ended)
	})
}

// changing are informers that come and go.
type changing struct{ now []typed.AnyInformer }

func (c *changing) are(now ...typed.AnyInformer)   { c.now = now }
func (c *changing) Informers() []typed.AnyInformer { return c.now }

// TestAddUntil collects parts until a context ends: gauges fall, and counters do not while
// another informer has their labels.
func TestAddUntil(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const count, objects = `kubetyped_informer_events_total{group="",kind="Pod"}`, `kubetyped_informer_objects{group="",kind="Pod"}`
		stays, goes := newFake("", "Pod", "stays"), newFake("", "Pod", "goes")
		stays.status.Events, stays.status.Objects = 1, 10
		goes.status.Events, goes.status.Objects = 2, 20
		q, err := queue.NewWorkQueue[string](queue.WithName("q"))
		require.NoError(t, err)
		defer q.ShutDown()
		r, m := newMetrics(t, metrics.WithInformers(stays))
		ctx, cancel := context.WithCancel(t.Context())
		require.NoError(t, m.AddUntil(ctx, metrics.WithInformers(goes, stays), metrics.WithQueues(q)))
		got := gather(t, r)
		assert.Equal(t, []float64{3, 30}, []float64{got[count], got[objects]})
		assert.Contains(t, got, `kubetyped_queue_in_work_keys{name="q"}`)

		cancel()
		synctest.Wait()
		got = gather(t, r)
		assert.Equal(t, []float64{3, 10}, []float64{got[count], got[objects]})
		assert.NotContains(t, got, `kubetyped_queue_in_work_keys{name="q"}`)
		var none context.Context
		require.ErrorContains(t, m.AddUntil(none, metrics.WithQueues(q)), "the context is nil")
		require.ErrorContains(t, m.AddUntil(t.Context(), metrics.WithQueues(q), metrics.WithIndexSizes()), "of New alone")
		assert.NotContains(t, gather(t, r), `kubetyped_queue_in_work_keys{name="q"}`, "nothing was added")
	})
}

// TestConcurrentCollections is about the race detector.
func TestConcurrentCollections(t *testing.T) {
	f := newFake("", "Pod", "a")
	r, m := newMetrics(t, metrics.WithInformers(f))
	var group sync.WaitGroup
	for i := range 8 {
		group.Go(func() {
			for range 20 {
				_, err := r.Gather()
				assert.NoError(t, err)
				assert.NoError(t, m.Add(metrics.WithInformers(newFake("", "Node", fmt.Sprint(i)))))
			}
		})
	}
	group.Wait()
	assert.EqualValues(t, 160, gather(t, r)[`kubetyped_informers{group="",kind="Node",phase="Synced"}`])
}

func TestOptions(t *testing.T) {
	r := prometheus.NewRegistry()
	for name, o := range map[string]metrics.Option{
		"factory is nil":                      metrics.WithFactories(nil),
		"informer is nil":                     metrics.WithInformers(nil),
		"queue is nil":                        metrics.WithQueues(nil),
		"expectations need a name":            metrics.WithExpectations("", nil),
		"expectations is nil":                 metrics.WithExpectations("x", nil),
		"group is nil":                        metrics.WithGroups(nil),
		"a fleet needs a name":                metrics.WithFleet("", nil),
		"fleet is nil":                        metrics.WithFleet("x", nil),
		"option is nil":                       nil,
		"which cannot be compared":            metrics.WithInformers(odd{}),
		"metrics: informer is nil":            metrics.WithInformers((*typed.Informer[*corev1.ConfigMap])(nil)),
		"metrics: the informer is a metrics_": metrics.WithInformers(odd{}),
	} {
		_, err := metrics.New(r, o)
		assert.ErrorContains(t, err, name)
	}
	_, err := metrics.New(nil)
	assert.EqualError(t, err, "metrics: registerer is nil")
	m, err := metrics.New(r)
	require.NoError(t, err)
	_, err = metrics.New(r)
	assert.ErrorAs(t, err, &prometheus.AlreadyRegisteredError{})
	for _, o := range []metrics.Option{metrics.WithInformerNames(), metrics.WithHandlerNames(), metrics.WithClusterNames(), metrics.WithIndexSizes(), metrics.WithoutClientGoNames()} {
		assert.ErrorContains(t, m.Add(o), "of New alone")
	}
	assert.ErrorContains(t, m.Add(metrics.WithInformers(newFake("", "Pod", "a")), metrics.WithFactories(nil)), "nil")
	assert.NotContains(t, gather(t, r), `kubetyped_informer_objects{group="",kind="Pod"}`, "nothing was added")
	assert.True(t, r.Unregister(m))
}

// odd is an informer that cannot be compared with others.
type odd struct {
	typed.AnyInformer
	_ []int
}

// TestNamesInBadUTF8 do no harm.
func TestNamesInBadUTF8(t *testing.T) {
	r, m := newMetrics(t, metrics.WithInformers(newFake("\xff", "\xfe", "\xfd")), metrics.WithInformerNames())
	m.NewDepthMetric("\xff").Inc()
	assert.EqualValues(t, 1, gather(t, r)[`workqueue_depth{name="`+"\uFFFD"+`"}`])
}
