package panics_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/klog/v2"

	"github.com/kubetyped/informer/index"
	"github.com/kubetyped/informer/internal/test/rig"
	"github.com/kubetyped/informer/internal/test/sinktest"
	"github.com/kubetyped/informer/typed"
	"github.com/kubetyped/informer/typed/observe"
	"github.com/kubetyped/informer/typed/report"
)

type thing = *rig.Thing

// goesOn puts an object after a panic, and checks that the handler receives it.
func goesOn(t *testing.T, r *rig.Rig, rec *rig.Recorder) {
	t.Helper()
	sinktest.Put(r.Sink, rig.At("after", 9), "9")
	assert.Contains(t, rec.Next(), "add after@9")
	_, ok := r.Get(rig.Key("after"))
	assert.True(t, ok)
	assert.Equal(t, "9", r.ResourceVersion())
}

// withOption returns the row of an option of an informer, whose function the first list
// calls, or a report of trouble.
func withOption(option func(p *planted) typed.Option) row {
	return row{run: func(t *testing.T, p *planted) {
		r := rig.New(t, option(p))
		rec := r.Record()
		r.Start()
		sinktest.Replace(r.Sink, "", []thing{rig.At("a", 1)}, "1")
		assert.Equal(t, []string{"initial a@1"}, rec.Next())
		r.Sink.Report(errors.New("no contact"))
		goesOn(t, r, rec)
	}}
}

// informerRows are of what an informer calls.
var informerRows = map[string]row{
	"typed.Handler": {run: func(t *testing.T, p *planted) {
		r := rig.New(t)
		rec, other := r.Record(), r.Record()
		rec.Before(func(string) { p.here() })
		r.Start()
		sinktest.Replace(r.Sink, "", []thing{rig.At("a", 1)}, "1")
		assert.Equal(t, []string{"initial a@1"}, other.Next())
		goesOn(t, r, rec)
		assert.True(t, rig.IsClosed(rec.Synced()))
	}},
	"typed.WithOnSynced": {run: func(t *testing.T, p *planted) {
		r := rig.New(t)
		rec := r.Record(typed.WithOnSynced(p.here))
		r.Start()
		sinktest.Replace(r.Sink, "", nil, "1")
		synctest.Wait()
		assert.True(t, rig.IsClosed(rec.Synced()))
		goesOn(t, r, rec)
	}},
	"Registration.After": {run: func(t *testing.T, p *planted) {
		r := rig.New(t)
		rec := r.Record()
		r.Start()
		sinktest.Replace(r.Sink, "", nil, "1")
		rec.After(p.here)
		synctest.Wait()
		goesOn(t, r, rec)
	}},
	"typed.WithTransform": {run: func(t *testing.T, p *planted) {
		r := rig.New(t, typed.WithTransform(func(o thing) (thing, error) {
			if o.Name == "bad" {
				p.here()
			}
			return o, nil
		}))
		rec := r.Record()
		r.Start()
		sinktest.Replace(r.Sink, "", []thing{rig.At("a", 1), rig.At("bad", 1), rig.At("b", 1)}, "1")
		assert.ElementsMatch(t, []string{"initial a@1", "initial b@1"}, rec.Next())
		assert.ErrorContains(t, r.Rejected(rig.Key("bad")), "the transform function has panicked: "+planting)
		sinktest.Put(r.Sink, rig.At("bad", 2), "2")
		assert.Equal(t, []string{"add bad@2"}, rec.Next())
		goesOn(t, r, rec)
	}},
	"typed.WithOnError": withOption(func(p *planted) typed.Option {
		return typed.WithOnError(func(error) error { p.here(); return nil })
	}),
	"observe.Metrics.SetQueued": withOption(func(p *planted) typed.Option {
		return observe.WithMetrics(metrics{queued: p.here})
	}),
	"observe.Metrics.Process": withOption(func(p *planted) typed.Option {
		return observe.WithMetrics(metrics{process: p.here})
	}),
	"observe.Metrics.SetResourceVersion": {run: func(t *testing.T, p *planted) {
		armed := false
		r := rig.New(t, observe.WithMetrics(metrics{version: func() {
			if armed {
				p.here()
			}
		}}))
		rec := r.Record()
		r.Start()
		sinktest.Replace(r.Sink, "", nil, "1")
		synctest.Wait()
		armed = true
		sinktest.Bookmark(r.Sink, "5") // which writes nothing
		synctest.Wait()
		assert.Equal(t, "5", r.ResourceVersion())
		goesOn(t, r, rec)
	}},
	"observe.Budget.OnWarning": withOption(func(p *planted) typed.Option {
		return observe.WithBudget(observe.Budget{Objects: 1, OnWarning: func(report.Budget) { p.here() }})
	}),
	"observe.WithMutationDetection": {run: func(t *testing.T, p *planted) {
		r := rig.New(t, observe.WithMutationDetection(time.Minute, func(observe.Mutation) { p.here() }))
		rec := r.Record()
		require.NoError(t, r.AddIndexes(index.Single("modifies", func(o thing) (string, bool) {
			o.Node = "changed" // after it was recorded
			return o.Node, true
		})))
		r.Start()
		sinktest.Replace(r.Sink, "", []thing{rig.At("a", 1)}, "1")
		assert.Len(t, rec.Next(), 1)
		time.Sleep(2 * time.Minute)
		goesOn(t, r, rec)
	}},
	"index.Index":    {run: indexFunction},
	"typed.Follower": {run: followers},
	"klog.Logger": {run: func(t *testing.T, p *planted) {
		r := rig.New(t, observe.WithSlowHandlers(time.Second, 0))
		rec := r.Record()
		rec.Before(func(call string) {
			if call == "initial a@1" {
				time.Sleep(time.Minute)
			}
		})
		r.StartIn(klog.NewContext(context.Background(), klog.New(logSink{p})))
		sinktest.Replace(r.Sink, "", []thing{rig.At("a", 1)}, "1")
		time.Sleep(time.Hour)
		assert.Equal(t, []string{"initial a@1"}, rec.Next())
		goesOn(t, r, rec)
	}},
}

// indexFunction: of a batch, the one object is left out.
func indexFunction(t *testing.T, p *planted) {
	r := rig.New(t)
	rec := r.Record()
	hold := make(chan struct{})
	require.NoError(t, r.AddIndexes(index.Single("picky", func(o thing) (string, bool) {
		<-hold // so that what follows makes one batch
		if o.Name == "bad" && o.Version == 3 {
			usersFunction()
		}
		return o.Name, true
	})))
	r.Start()
	sinktest.Replace(r.Sink, "", []thing{rig.At("a", 1)}, "1")
	synctest.Wait()
	sinktest.Put(r.Sink, rig.At("a", 2), "2")
	sinktest.Put(r.Sink, rig.At("bad", 3), "3")
	sinktest.Put(r.Sink, rig.At("b", 4), "4")
	close(hold)
	assert.Equal(t, []string{"initial a@1", "update a@1 a@2", "add b@4"}, rec.Next())
	assert.ErrorContains(t, r.Rejected(rig.Key("bad")), planting)
	sinktest.Put(r.Sink, rig.At("bad", 5), "5")
	assert.Equal(t, []string{"add bad@5"}, rec.Next())
	goesOn(t, r, rec)
}

// followers: the other follower, and handlers, receive the step all the same.
func followers(t *testing.T, p *planted) {
	r := rig.New(t)
	rec := r.Record()
	other := &follower{}
	for _, f := range []*follower{{step: p.here}, other} {
		_, err := r.Follow(f)
		require.NoError(t, err)
	}
	r.Start()
	sinktest.Replace(r.Sink, "", []thing{rig.At("a", 1)}, "1")
	assert.Equal(t, []string{"initial a@1"}, rec.Next())
	goesOn(t, r, rec)
	assert.Equal(t, 2, other.steps)
	assert.Zero(t, r.Status().Rejected)
}

type follower struct {
	step  func()
	steps int
}

func (f *follower) Begin(*index.Snapshot[thing]) {}
func (f *follower) Synced()                      {}
func (f *follower) Report(error)                 {}
func (f *follower) End(error)                    {}
func (f *follower) Step([]typed.Event[thing], string) {
	f.steps++
	if f.step != nil {
		f.step()
	}
}

// metrics panic where they have a function.
type metrics struct{ queued, process, version func() }

func call(f func()) {
	if f != nil {
		f()
	}
}

func (m metrics) SetQueued(int)             { call(m.queued) }
func (m metrics) Process(_ int, run func()) { call(m.process); run() }
func (m metrics) SetResourceVersion(string) { call(m.version) }

// logSink logs nothing, and panics.
type logSink struct{ p *planted }

func (s logSink) Init(klog.RuntimeInfo)          {}
func (s logSink) Enabled(level int) bool         { return level == 0 }
func (s logSink) Info(int, string, ...any)       { s.p.here() }
func (s logSink) Error(error, string, ...any)    { s.p.here() }
func (s logSink) WithValues(...any) klog.LogSink { return s }
func (s logSink) WithName(string) klog.LogSink   { return s }
