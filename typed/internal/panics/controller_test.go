package panics_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubetyped/informer/internal/test/rig"
	"github.com/kubetyped/informer/internal/test/sinktest"
	"github.com/kubetyped/informer/queue"
	"github.com/kubetyped/informer/typed"
	"github.com/kubetyped/informer/typed/control"
)

// part is a part of a program that panics where it has a function.
type part struct{ run, sync, drain, shutDown, elect func() }

func (p part) Name() string                      { return "of a part" }
func (p part) WaitForSync(context.Context) error { call(p.sync); return nil }
func (p part) Drain(context.Context) error       { call(p.drain); return nil }
func (p part) ShutDown()                         { call(p.shutDown) }

type runs struct{ part }

func (p runs) Run(ctx context.Context) error {
	call(p.run)
	<-ctx.Done()
	return nil
}

type works struct{ part }

func (p works) Run(ctx context.Context, _ int, _ func(context.Context, string) error) error {
	call(p.run)
	<-ctx.Done()
	return nil
}

func (p part) Elect(ctx context.Context, lead func(context.Context)) error {
	call(p.elect)
	lead(ctx)
	return nil
}

// program returns the row of a program of which a part panics: it stops, with an error that
// says which, and the informer runs until all else has ended.
func program(words string, informer, workers, elector func(p *planted) part) row {
	of := func(make func(p *planted) part, p *planted) part {
		if make == nil {
			return part{}
		}
		return make(p)
	}
	return row{run: func(t *testing.T, p *planted) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		err := control.Run(ctx,
			control.WithInformers(runs{of(informer, p)}),
			control.WithWorkers(works{of(workers, p)}, 1, func(context.Context, string) error { return nil }),
			control.WithElector(of(elector, p)))
		require.Error(t, err)
		assert.ErrorContains(t, err, words+" has panicked: "+planting)
	}}
}

// controllerRows are of what package control and queues call.
var controllerRows = map[string]row{
	"control.Informer.Run": program("informer of a part: it", func(p *planted) part { return part{run: p.here} }, nil, nil),
	"control.Synced":       program("what is waited for", func(p *planted) part { return part{sync: p.here} }, nil, nil),
	"control.Queue.Run":    program("the queue", nil, func(p *planted) part { return part{run: p.here} }, nil),
	"control.Queue.Drain":  program("the queue", nil, func(p *planted) part { return part{drain: p.here} }, nil),
	"control.Queue.ShutDown": program("a queue that is shut down", nil,
		func(p *planted) part { return part{shutDown: p.here} }, nil),
	"control.Elector": program("the elector", nil, nil, func(p *planted) part { return part{elect: p.here} }),
	"control.Adder": expired(func(p *planted) (adder, func() string) {
		return func(string) { p.here() }, func() string { return "" }
	}),
	"typed.Expected": expired(func(p *planted) (adder, func() string) {
		return func(string) {}, func() string { p.here(); return "" }
	}),
	"control.Filter": {run: func(t *testing.T, p *planted) {
		r := rig.New(t)
		rec := &rig.Recorder{}
		reg, err := r.Handle(control.Filter(typed.Handler[thing](rec), func(o thing) bool {
			if o.Name == "bad" {
				p.here()
			}
			return true
		}))
		require.NoError(t, err)
		rec.Registration = reg
		r.Start()
		sinktest.Replace(r.Sink, "", []thing{rig.At("bad", 1)}, "1")
		goesOn(t, r, rec)
	}},
	"queue.WorkQueue.Run": {contained: true, run: func(t *testing.T, p *planted) {
		q, err := queue.NewWorkQueue[string]()
		require.NoError(t, err)
		var processed []string
		q.Add("bad")
		q.Add("good")
		stop := background(func(ctx context.Context) error {
			return q.Run(ctx, 1, func(_ context.Context, key string) error {
				if key == "bad" {
					p.here()
				}
				processed = append(processed, key)
				return nil
			})
		})
		time.Sleep(time.Minute)
		stop()
		assert.Equal(t, []string{"good", "bad"}, processed)
	}},
}

type adder func(key string)

func (f adder) AddWithOptions(key string, _ queue.AddOptions) { f(key) }

// expired returns the row of a function that is called when an expectation times out.
func expired(make func(p *planted) (adder, func() string)) row {
	return row{run: func(t *testing.T, p *planted) {
		var told []string
		add, text := make(p)
		e, err := control.NewExpectations[string](adder(func(key string) {
			told = append(told, key)
			add(key)
		}), control.WithExpectationTimeout(time.Minute))
		require.NoError(t, err)
		var armed atomic.Bool
		expect := func(key string) {
			require.NoError(t, e.Expect(key, observer{func() string {
				if armed.Load() {
					return text()
				}
				return ""
			}}, "1"))
			require.NoError(t, e.Wrap(func(context.Context, string) error { return errors.New("it is not put off") })(t.Context(), key))
		}
		expect("a")
		armed.Store(true)
		time.Sleep(2 * time.Minute)
		synctest.Wait()
		assert.Zero(t, e.Stats().Keys, "no lock is held")
		armed.Store(false)
		expect("b")
		time.Sleep(2 * time.Minute)
		synctest.Wait()
		assert.Equal(t, []string{"a", "b"}, told)
	}}
}

// observer sees nothing.
type observer struct{ text func() string }

func (o observer) ExpectVersion(string) (typed.Expected, error)           { return unmet(o), nil }
func (o observer) ExpectDeleted(typed.Identified) (typed.Expected, error) { return unmet(o), nil }

// unmet is never met.
type unmet struct{ text func() string }

func (unmet) Met() bool                  { return false }
func (unmet) Watch(func())               {}
func (unmet) Unwatch()                   {}
func (unmet) Listed() bool               { return false }
func (unmet) Covers(typed.Expected) bool { return false }
func (u unmet) String() string           { return u.text() }
