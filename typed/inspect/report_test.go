package inspect_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/types"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"

	"github.com/kubetyped/informer/index"
	"github.com/kubetyped/informer/internal/test/rig"
	"github.com/kubetyped/informer/internal/test/sinktest"
	"github.com/kubetyped/informer/queue"
	"github.com/kubetyped/informer/typed"
	"github.com/kubetyped/informer/typed/control"
	"github.com/kubetyped/informer/typed/fleet"
	"github.com/kubetyped/informer/typed/inspect"
	"github.com/kubetyped/informer/typed/inspect/snapshot"
	"github.com/kubetyped/informer/typed/observe"
	"github.com/kubetyped/informer/typed/report"
	"github.com/kubetyped/informer/typed/shard"
	"github.com/kubetyped/informer/typed/source"
)

// TestReportOfAFactorysBudget: it is shown with each informer, and once as a problem.
func TestReportOfAFactorysBudget(t *testing.T) {
	rig.InBubble(t, func(t *testing.T) {
		f := typed.NewFactory(observe.WithTotalBudget(observe.Budget{Objects: 10}))
		defer f.Shutdown()
		for _, name := range []string{"a", "b"} {
			script := rig.NewScript()
			_, err := typed.Share(f, name, func() source.Source[*rig.Thing] { return script })
			require.NoError(t, err)
			sinktest.Replace(<-script.Started, "", []*rig.Thing{rig.At("1", 1), rig.At("2", 1), rig.At("3", 1), rig.At("4", 1)}, "1")
			synctest.Wait()
		}
		inspector := newInspector(t, inspect.WithFactories(f))
		report := reportOf(t, inspector)
		require.Len(t, report.Informers, 2)
		for _, of := range report.Informers {
			require.NotNil(t, of.FactoryBudget)
			assert.EqualValues(t, 8, of.FactoryBudget.Kept)
			assert.InDelta(t, 0.8, of.FactoryBudget.Used, 1e-9)
			assert.Nil(t, of.Budget)
		}
		require.Len(t, report.Problems, 1)
		assert.Equal(t, "BudgetNear", report.Problems[0].Reason)
		assert.Contains(t, report.Problems[0].Text, "the others of its factory use 80% of their budget: 8 of 10 objects")
	})
}

// TestReportOfInformers reports informers in all possible states.
func TestReportOfInformers(t *testing.T) {
	rig.InBubble(t, func(t *testing.T) {
		byNode := index.New("node", func(o *rig.Thing) []string { return []string{o.Node} })
		r := rig.New(t, typed.WithName("things"), observe.WithCallTimes(), observe.WithHistory(10), observe.WithBudget(observe.Budget{Objects: 12}))
		require.NoError(t, r.AddIndexes(byNode))
		var panics bool
		_, err := r.Handle(typed.HandlerFuncs[*rig.Thing]{AddFunc: func(*rig.Thing, bool) { time.Sleep(time.Second) }}, typed.WithHandlerName("slow"), typed.WithDelivery(typed.Coalesce()))
		require.NoError(t, err)
		_, err = r.Handle(typed.HandlerFuncs[*rig.Thing]{AddFunc: func(*rig.Thing, bool) {
			if panics {
				panic("of " + "course")
			}
		}}, typed.WithHandlerName("panics"))
		require.NoError(t, err)
		fresh := typed.NewInformer(rig.NewScript(), typed.WithName("fresh"))
		failing := rig.New(t, typed.WithName("failing"))
		failing.Start()
		failing.Sink.Report(errors.New("no route to host"))
		failing.Sink.Report(errors.New("no route to host"))
		inspector := newInspector(t, inspect.WithInformers(r.Informer, fresh, failing.Informer))
		start := time.Now()
		r.Start()
		var things []*rig.Thing
		for n := range 10 {
			things = append(things, rig.At(fmt.Sprint("thing-", n), n))
		}
		sinktest.Replace(r.Sink, "", things, "9")
		time.Sleep(3500 * time.Millisecond)
		synctest.Wait()

		report := reportOf(t, inspector)
		require.Len(t, report.Informers, 3)
		of := report.Informers[0]
		assert.Equal(t, "things", of.Name, "what costs most is first")
		assert.Equal(t, "Synced", of.Phase)
		assert.Equal(t, 10, of.Objects)
		assert.Equal(t, "9", of.ResourceVersion)
		assert.WithinDuration(t, start, of.LastEvent, 0)
		assert.Equal(t, []snapshot.Index{{Name: "node", Keys: 3, Largest: 4}}, of.Indexes)
		require.NotNil(t, of.Heap)
		assert.Equal(t, 10, of.Heap.Sampled)
		assert.Greater(t, of.Heap.Bytes, int64(500))
		assert.InDelta(t, 1, of.Heap.Share, 0.01)
		require.NotNil(t, of.Created)
		assert.Contains(t, of.Created.Short, "inspect/report_test.go:")
		require.NotNil(t, of.Budget)
		assert.EqualValues(t, 12, of.Budget.Objects)
		assert.Equal(t, "BudgetNear", problem(t, &report, "BudgetNear").Reason)
		require.Len(t, of.Handlers, 2)
		slow := of.Handlers[0]
		assert.Equal(t, "slow", slow.Name)
		assert.Equal(t, "Coalesce()", slow.Delivery)
		assert.Equal(t, 7, slow.Backlog)
		require.NotNil(t, slow.Times)
		assert.EqualValues(t, 3, slow.Times.Calls)
		assert.InDelta(t, 1, slow.Times.MeanSeconds, 0.001)
		assert.Len(t, slow.Times.Buckets, 13)
		require.NotNil(t, slow.Current)
		assert.InDelta(t, 0.5, slow.Current.Seconds, 0.001)
		assert.Equal(t, "HandlerSlow", problem(t, &report, "HandlerSlow").Reason)
		assert.Equal(t, snapshot.Totals{Informers: 3, Synced: 1, Failing: 1, Objects: 10, HeapBytes: of.Heap.Bytes, Backlog: 7}, report.Totals)

		p := problem(t, &report, "Failing")
		assert.Equal(t, snapshot.Problem{
			Severity: snapshot.Error, Reason: "Failing", Part: p.Part, Name: "failing", Since: p.Since, Detail: "no route to host",
			Text: "not synced, so nothing can be read: list or watch fails, 2 failures",
		}, p)
		assert.WithinDuration(t, start, p.Since, 0)
		assert.Equal(t, "fresh", problem(t, &report, "NotStarted").Name)
		assert.Equal(t, "failing", report.Problems[0].Name, "the worst is first")

		panics = true
		defer func(crash bool) { utilruntime.ReallyCrash = crash }(utilruntime.ReallyCrash)
		utilruntime.ReallyCrash = false
		sinktest.Put(r.Sink, rig.At("bad", 10), "10")
		time.Sleep(time.Minute)
		report = reportOf(t, inspector)
		assert.Contains(t, problem(t, &report, "HandlerPanicked").Detail, "of course")
		r.Stop()
		synctest.Wait()
		report = reportOf(t, inspector)
		assert.Equal(t, "things", problem(t, &report, "Stopped").Name)
	})
}

// TestHeapIsWeighedNowAndThen weighs an informer at most every ten seconds.
func TestHeapIsWeighedNowAndThen(t *testing.T) {
	rig.InBubble(t, func(t *testing.T) {
		counting := &countingInformer{AnyInformer: typed.NewInformer(rig.NewScript(), typed.WithName("x"))}
		inspector := newInspector(t, inspect.WithInformers(counting))
		for range 50 {
			inspector.Report(t.Context())
			time.Sleep(time.Second)
		}
		assert.Equal(t, 5, counting.weighed)
		assert.Equal(t, 5, counting.indexes)
		time.Sleep(time.Hour)
		assert.Equal(t, 5, counting.weighed, "nobody asks")
	})
}

// packedInformer reports some objects as kept as bytes.
type packedInformer struct{ typed.AnyInformer }

func (p packedInformer) EstimateHeap(int) heap {
	return heap{Bytes: 5000, Objects: 3, Sampled: 3, Packed: report.Packed{Objects: 3, Bytes: 2048, Raw: 30720, Bases: 2, Decoded: 7, Decoding: 1500 * time.Millisecond}}
}

// TestReportOfPackedObjects: the page and the JSON have the row of objects that are kept as bytes.
func TestReportOfPackedObjects(t *testing.T) {
	rig.InBubble(t, func(t *testing.T) {
		r := rig.New(t, typed.WithName("packed"))
		r.Start()
		sinktest.Replace(r.Sink, "", []*rig.Thing{rig.At("a", 1)}, "1")
		inspector := newInspector(t, inspect.WithInformers(packedInformer{r.Informer}))
		of := reportOf(t, inspector).Informers[0].Heap
		require.NotNil(t, of)
		assert.Equal(t, &snapshot.Packed{Objects: 3, Bytes: 2048, RawBytes: 30720, Bases: 2, Decoded: 7, DecodingSeconds: 1.5}, of.Packed)
		text := page(t, inspector, "/")
		assert.Contains(t, text, "<dt>Kept as bytes</dt><dd>2.0 KiB of 30 KiB <small>3 objects, 2 bases; 7 decoded again in 1.5 s</small>")
	})
}

// countingInformer counts what is costly. Two at once would be a race.
type countingInformer struct {
	typed.AnyInformer
	weighed, indexes int
}

func (c *countingInformer) EstimateHeap(sample int) (h heap) {
	c.weighed++
	return c.AnyInformer.EstimateHeap(sample)
}

func (c *countingInformer) IndexSizes() []index.IndexSize {
	c.indexes++
	return c.AnyInformer.IndexSizes()
}

// TestBacklogThatGrows reports a handler whose backlog grows and grows.
func TestBacklogThatGrows(t *testing.T) {
	rig.InBubble(t, func(t *testing.T) {
		r := rig.New(t, typed.WithName("things"))
		r.Start()
		sinktest.Replace(r.Sink, "", nil, "1")
		release := make(chan struct{})
		defer close(release)
		_, err := r.Handle(typed.HandlerFuncs[*rig.Thing]{AddFunc: func(*rig.Thing, bool) { <-release }})
		require.NoError(t, err)
		inspector := newInspector(t, inspect.WithInformers(r.Informer))
		n := 0
		for range 10 {
			for range 100 {
				n++
				sinktest.Put(r.Sink, rig.At(fmt.Sprint(n), n), fmt.Sprint(n))
			}
			synctest.Wait()
			inspector.Report(t.Context())
			time.Sleep(2 * time.Second)
		}
		report := reportOf(t, inspector)
		assert.InDelta(t, 45, report.Informers[0].Handlers[0].Growth, 1)
		assert.Contains(t, problem(t, &report, "HandlerBehind").Text, "is behind by 1,000 events, and by 45 more each second")
		time.Sleep(2 * time.Minute)
		report = reportOf(t, inspector)
		time.Sleep(10 * time.Second)
		report = reportOf(t, inspector)
		assert.Zero(t, report.Informers[0].Handlers[0].Growth, "it does not any more")
	})
}

// TestReportOfQueues reports a queue with keys in all states, and expectations.
func TestReportOfQueues(t *testing.T) {
	rig.InBubble(t, func(t *testing.T) {
		q, err := queue.NewWorkQueue[index.Key](queue.WithName("things"))
		require.NoError(t, err)
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan struct{})
		go func() {
			defer close(done)
			_ = q.Run(ctx, 1, func(ctx context.Context, key index.Key) error {
				switch key.Name {
				case "fails":
					return errors.New("<b>no</b>")
				case "hangs":
					<-ctx.Done()
				}
				return nil
			})
		}()
		defer func() { cancel(); <-done }()
		q.Add(rig.Key("fails"))
		time.Sleep(30 * time.Second)
		q.Add(rig.Key("hangs"))
		synctest.Wait()
		q.Add(rig.Key("waits"))
		q.AddWithOptions(rig.Key("low"), queue.AddOptions{Priority: -5})
		q.AddAfter(rig.Key("later"), time.Hour)
		time.Sleep(6 * time.Minute)

		expected := fixedExpectations{{Key: "ns/waits", Waiting: true, For: []string{"informer pods: version 7"}, Since: time.Now().Add(-time.Minute), Deadline: time.Now().Add(time.Minute)}, {Key: "other"}}
		inspector := newInspector(t, inspect.WithQueue(q), inspect.WithExpectations("pods", expected))
		report := reportOf(t, inspector)
		of := report.Queues[0]
		assert.Equal(t, "things", of.Name)
		assert.Equal(t, 1, of.InWork)
		require.Len(t, of.Work, 1)
		assert.Equal(t, "ns/hangs", of.Work[0].Key)
		assert.True(t, of.Work[0].Stuck)
		assert.InDelta(t, 360, of.Work[0].Seconds, 0.1)
		assert.Contains(t, of.Priorities, snapshot.Priority{Priority: -5, Waiting: 1})
		require.Len(t, of.Failing, 1)
		assert.Equal(t, "<b>no</b>", of.Failing[0].Error)
		assert.Contains(t, problem(t, &report, "WorkerStuck").Text, "a worker is stuck with key ns/hangs, and ")
		assert.Contains(t, problem(t, &report, "KeyFailing").Text, "key ns/fails fails, ")
		assert.Equal(t, "ns/waits", problem(t, &report, "QueueWaiting").Key)
		assert.Equal(t, "ns/waits", problem(t, &report, "WriteNotSeen").Key)
		assert.Equal(t, 2, report.Expectations[0].Keys)
		assert.EqualValues(t, 7, report.Expectations[0].PutOff)
		assert.Len(t, report.Expectations[0].Pending, 2)

		for name, check := range map[string]func(k snapshot.KeyQueue){
			"fails": func(k snapshot.KeyQueue) { assert.Equal(t, "<b>no</b>", k.Failing.Error) },
			"hangs": func(k snapshot.KeyQueue) { assert.InDelta(t, 360, time.Since(k.WorkSince).Seconds(), 0.1) },
			"waits": func(k snapshot.KeyQueue) { assert.InDelta(t, 360, time.Since(k.WaitingSince).Seconds(), 0.1) },
			"low":   func(k snapshot.KeyQueue) { assert.Equal(t, -5, k.Priority) },
			"later": func(k snapshot.KeyQueue) { assert.InDelta(t, 54, time.Until(k.DelayedUntil).Minutes(), 0.1) },
		} {
			k := decoded[snapshot.Key](t, inspector, "/?format=json&key=ns/"+name)
			if assert.Len(t, k.Queues, 1, name) {
				assert.True(t, k.Queues[0].Known)
				check(k.Queues[0])
			}
			if name == "waits" {
				require.Len(t, k.Expectations, 1)
				assert.Equal(t, []string{"informer pods: version 7"}, k.Expectations[0].For)
			}
		}
		k := decoded[snapshot.Key](t, inspector, "/?format=json&key=ns/nobody")
		assert.Empty(t, k.Queues)
		assert.Equal(t, "It is in the stores of 0 of 0 informers", k.Verdicts[0].Text)
	})
}

// TestProblemsCountAllFailingKeys: the first three are a problem each, all the others
// one together, whether the report lists them or not.
func TestProblemsCountAllFailingKeys(t *testing.T) {
	failing := func(n int) (all []snapshot.Failing) {
		for i := range n {
			all = append(all, snapshot.Failing{Key: fmt.Sprint("ns/", i), Failures: 9})
		}
		return all
	}
	for _, test := range []struct {
		listed, failing int
		want            []string
	}{
		{1, 1, []string{"key ns/0 fails, 9 times in a row"}},
		{3, 3, []string{"key ns/0 fails, 9 times in a row", "key ns/1 fails, 9 times in a row", "key ns/2 fails, 9 times in a row"}},
		{4, 4, []string{"key ns/0 fails, 9 times in a row", "key ns/1 fails, 9 times in a row", "key ns/2 fails, 9 times in a row", "1 other key fails"}},
		{20, 1204, []string{"key ns/0 fails, 9 times in a row", "key ns/1 fails, 9 times in a row", "key ns/2 fails, 9 times in a row", "1,201 other keys fail"}},
	} {
		r := &snapshot.Report{Time: noon, Queues: []snapshot.Queue{{ID: "queue-1", Name: "orders", Failing: failing(test.listed), FailingKeys: test.failing}}}
		var texts []string
		for _, p := range inspect.ProblemsOf(r) {
			texts = append(texts, p.Text)
		}
		assert.Equal(t, test.want, texts)
	}
}

// TestProblemsOfTerminalKeys: a key that is not tried again is a problem, although others that
// have failed more often are none yet.
func TestProblemsOfTerminalKeys(t *testing.T) {
	r := &snapshot.Report{Time: noon, Queues: []snapshot.Queue{{ID: "queue-1", Name: "orders", FailingKeys: 3, Failing: []snapshot.Failing{
		{Key: "ns/often", Failures: 5}, {Key: "ns/twice", Failures: 2}, {Key: "ns/terminal", Failures: 1, Terminal: true},
	}}}}
	var texts []string
	for _, p := range inspect.ProblemsOf(r) {
		texts = append(texts, p.Text)
	}
	assert.Equal(t, []string{"key ns/often fails, 5 times in a row", "key ns/terminal fails, 1 time in a row, and is not tried again", "1 other key fails"}, texts)
}

// TestKeysOfQueues looks up keys in queues of other types of keys.
func TestKeysOfQueues(t *testing.T) {
	pair := types.NamespacedName{Namespace: "shop", Name: "a"}
	of := func(opt inspect.Option, key string) []snapshot.KeyQueue {
		return decoded[snapshot.Key](t, newInspector(t, opt), "/?format=json&key="+key).Queues
	}
	known := func(opt inspect.Option, key string) bool {
		queues := of(opt, key)
		return assert.Len(t, queues, 1, key) && queues[0].Known
	}
	assert.True(t, known(inspect.WithQueue(fixedQueue[string]{"shop/a"}), "shop/a"))
	assert.Empty(t, of(inspect.WithQueue(fixedQueue[string]{"shop/a"}), "shop/b"))
	assert.True(t, known(inspect.WithQueue(fixedQueue[types.NamespacedName]{pair}), "shop/a"))
	assert.True(t, known(inspect.WithQueue(fixedQueue[types.NamespacedName]{types.NamespacedName{Name: "a"}}), "/a"))
	assert.True(t, known(inspect.WithQueue(fixedQueue[struct{ types.NamespacedName }]{struct{ types.NamespacedName }{pair}}), "shop/a"), "as controller-runtime has them")
	assert.True(t, known(inspect.WithQueue(queueOf(t, index.Key{Namespace: "east/shop", Name: "a"})), "east/shop/a"), "as fleets have them")
	// These are found in the lists.
	assert.False(t, known(inspect.WithQueue(fixedQueue[int]{17}), "17"))
	assert.False(t, known(inspect.WithQueue(fixedQueue[any]{"shop/a"}), "shop/a"), "of keys of any type")
	assert.False(t, known(inspect.WithQueue(fixedQueue[struct{ Key any }]{struct{ Key any }{"a"}}), "{a}"), "of structs with a key of any type")
}

// fixedQueue reports as a queue in which a key waits.
type fixedQueue[K comparable] struct{ key K }

func (q fixedQueue[K]) Report(int) queue.Report {
	return queue.Report{Stats: queue.Stats{Waiting: 1, OldestAge: time.Second}, Oldest: fmt.Sprint(q.key)}
}

func (q fixedQueue[K]) KeyState(key K) (s queue.KeyState) {
	if key == q.key {
		s.Waiting = time.Now()
	}
	return s
}

// queueOf returns a queue in which a key waits.
func queueOf(t *testing.T, key index.Key) *queue.WorkQueue[index.Key] {
	q, err := queue.NewWorkQueue[index.Key]()
	require.NoError(t, err)
	t.Cleanup(q.ShutDown)
	q.Add(key)
	return q
}

// TestReportOfGroupsAndFleets shows what members and clusters say.
func TestReportOfGroupsAndFleets(t *testing.T) {
	group := fixedGroup(shard.Status{Identity: "me", Members: []string{"me", "you"}, Ranges: 128, Wanted: 2, Leaving: 3, Calls: 4, Valid: false, Lost: 5, Err: errors.New("timeout")})
	clusters := fixedFleet{
		{Cluster: "east", Phase: fleet.PhaseSynced, Objects: 7},
		{Cluster: "west", Phase: fleet.PhaseStale, Objects: 3, Err: errors.New("refused"), Failures: 2},
		{Cluster: "gone", Phase: fleet.PhaseFailed, Err: errors.New("no such host")},
		{Cluster: "new", Phase: fleet.PhaseListing, Err: errors.New("slow")},
	}
	inspector := newInspector(t, inspect.WithGroup(group), inspect.WithFleet("pods", clusters), inspect.WithDeduplication(func() snapshot.Deduplication { return snapshot.Deduplication{Parts: 3} }))
	report := reportOf(t, inspector)
	assert.Equal(t, snapshot.Group{
		ID: report.Groups[0].ID, Name: "replicas", Identity: "me", Members: []string{"me", "you"},
		Ranges: 128, Wanted: 2, Leaving: 3, Calls: 4, Lost: 5, Error: "timeout",
	}, report.Groups[0])
	assert.Contains(t, problem(t, &report, "LeaseLost").Text, "could not renew its Lease")
	require.Len(t, report.Fleets[0].Clusters, 4)
	assert.True(t, report.Fleets[0].Clusters[1].Stale)
	assert.Equal(t, 3, report.Deduplication.Parts)
	var said []string
	for _, p := range report.Problems {
		if p.Reason == "ClusterFailing" {
			said = append(said, string(p.Severity)+" "+p.Text)
		}
	}
	assert.Equal(t, []string{
		"error cluster gone has failed for good",
		"warning cluster west fails, 2 times: its 3 objects are as they were",
		"warning cluster new fails, and nothing of it can be read",
	}, said)
	assert.Contains(t, page(t, inspector, "/"), "me, you")
}

// TestReportOfWrites: the page counts answers by server and reason, and shows each Writes once.
func TestReportOfWrites(t *testing.T) {
	east := &fixedWrites{report.Writes{Server: "east:6443", Taken: 7, Ignored: 3, Late: 1, LeftOut: map[string]uint64{"selector": 2, "failed": 5}}}
	unused := &fixedWrites{}
	inspector := newInspector(t, inspect.WithWrites(east, unused), inspect.WithWrites(east))
	r := reportOf(t, inspector)
	require.Len(t, r.Writes, 2)
	assert.Equal(t, snapshot.Writes{
		ID: r.Writes[0].ID, Name: "east:6443", Taken: 7, Ignored: 3, Late: 1,
		LeftOut: []snapshot.LeftOut{{Reason: "failed", Answers: 5}, {Reason: "selector", Answers: 2}},
	}, r.Writes[0])
	assert.NotEqual(t, r.Writes[0].ID, r.Writes[1].ID)
	text := page(t, inspector, "/")
	for _, shown := range []string{"Own writes", "east:6443", "<dt>Taken</dt><dd>7 ", "<div>2 <small>selector</small></div>", "no API server yet"} {
		assert.Contains(t, text, shown)
	}
	rig.InBubble(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		later := newInspector(t)
		require.NoError(t, later.AddUntil(ctx, inspect.WithWrites(east)))
		require.Len(t, reportOf(t, later).Writes, 1)
		cancel()
		synctest.Wait()
		assert.Empty(t, reportOf(t, later).Writes)
	})
}

// TestSilence has only the objects of API servers be missed.
func TestSilence(t *testing.T) {
	now := time.Now()
	r := snapshot.Report{Time: now, Informers: []snapshot.Informer{
		{Name: "view", Selection: "view of two", Phase: "Synced", LastContact: now.Add(-time.Hour)},
		{Name: "pods", Kind: "Pod", Phase: "Synced", LastContact: now.Add(-6 * time.Minute)},
		{Name: "nodes", Kind: "Node", Phase: "Synced", LastContact: now.Add(-4 * time.Minute)},
		{Name: "widgets", Resource: "widgets", Phase: "Synced", LastContact: now.Add(-time.Hour)},
	}}
	var silent []string
	for _, p := range inspect.ProblemsOf(&r) {
		assert.Equal(t, "Silent", p.Reason)
		silent = append(silent, p.Name)
	}
	assert.Equal(t, []string{"pods", "widgets"}, silent)
}

// TestSameNames: parts with the same name get different IDs.
func TestSameNames(t *testing.T) {
	a, b := typed.NewInformer(rig.NewScript(), typed.WithName("x")), typed.NewInformer(rig.NewScript(), typed.WithName("x"))
	report := reportOf(t, newInspector(t, inspect.WithInformers(a, b), inspect.WithExpectations("x", fixedExpectations{}), inspect.WithExpectations("x", fixedExpectations{})))
	assert.NotEqual(t, report.Informers[0].ID, report.Informers[1].ID)
	assert.NotEqual(t, report.Expectations[0].ID, report.Expectations[1].ID)
}

// TestInspectorsParts are what others, such as metrics, are made from.
func TestInspectorsParts(t *testing.T) {
	informer := typed.NewInformer(rig.NewScript())
	q := queueOf(t, rig.Key("a"))
	e, err := control.NewExpectations(control.AdderFunc[index.Key](func(index.Key) {}))
	require.NoError(t, err)
	inspector := newInspector(t, inspect.WithInformers(informer), inspect.WithFactories(typed.NewFactory()), inspect.WithQueue(q), inspect.WithExpectations("e", e))
	assert.Equal(t, []typed.AnyInformer{informer}, inspector.Informers())
	assert.Equal(t, []inspect.Queue{q}, inspector.Queues())
	for name, of := range inspector.Expectations() {
		assert.Equal(t, "e", name)
		assert.Equal(t, e, of)
	}
}
