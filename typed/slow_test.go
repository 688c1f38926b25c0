package typed_test

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"

	"github.com/kubetyped/informer/index"
	"github.com/kubetyped/informer/internal/test/rig"
	"github.com/kubetyped/informer/internal/test/sinktest"
	"github.com/kubetyped/informer/typed"
	"github.com/kubetyped/informer/typed/observe"
	"github.com/kubetyped/informer/typed/report"
)

// takingAsLong is a handler that takes as many seconds for an object as its version.
type takingAsLong struct{ typed.HandlerFuncs[*rig.Thing] }

func newTakingAsLong() takingAsLong {
	takes := func(o *rig.Thing) { time.Sleep(time.Duration(o.Version) * time.Second) }
	return takingAsLong{typed.HandlerFuncs[*rig.Thing]{
		AddFunc:    func(o *rig.Thing, _ bool) { takes(o) },
		UpdateFunc: func(_, o *rig.Thing) { takes(o) },
	}}
}

func TestCallTimes(t *testing.T) {
	rig.InBubble(t, func(t *testing.T) {
		began := time.Now()
		r := rig.New(t, observe.WithCallTimes())
		_, err := r.Handle(newTakingAsLong())
		require.NoError(t, err)
		status := func() report.Handler { return r.Status().Handlers[0] }
		r.Start()
		synctest.Wait()
		assert.Nil(t, status().Current)
		assert.Nil(t, status().Slowest)
		assert.Zero(t, status().Times.Calls())

		time.Sleep(time.Second)
		sinktest.Replace(r.Sink, "", []*rig.Thing{rig.At("a", 3)}, "1")
		time.Sleep(time.Second)
		assert.Equal(t, &report.Call{Type: index.Added, Key: rig.Key("a"), Began: began.Add(time.Second), Took: time.Second}, status().Current)
		assert.Zero(t, status().Times.Calls(), "it has not returned")
		sinktest.Put(r.Sink, rig.At("a", 8), "8")
		sinktest.Put(r.Sink, rig.At("b", 0), "9")
		time.Sleep(time.Minute)
		assert.Nil(t, status().Current)
		assert.Equal(t, &report.Call{Type: index.Updated, Key: rig.Key("a"), Began: began.Add(4 * time.Second), Took: 8 * time.Second}, status().Slowest,
			"the wait for the first call is none of the second")
		want := &report.CallTimes{Sum: 11 * time.Second}
		want.Counts[0], want.Counts[9], want.Counts[10] = 1, 1, 1 // up to 10 µs, 5 s, 10 s
		assert.Equal(t, want, status().Times)
		assert.False(t, status().Stuck)

		sinktest.Put(r.Sink, rig.At("a", 20), "20")
		time.Sleep(30 * time.Second)
		assert.Equal(t, began.Add(62*time.Second), status().Slowest.Began, "an idle time is none of a call")
	})
}

func TestSlowHandlers(t *testing.T) {
	rig.InBubble(t, func(t *testing.T) {
		ctx, lines := rig.Lines()
		r := rig.New(t, observe.WithSlowHandlers(5*time.Second, time.Minute))
		_, err := r.Handle(newTakingAsLong(), typed.WithHandlerName("sleeper"))
		require.NoError(t, err)
		r.StartIn(ctx)
		sinktest.Replace(r.Sink, "", []*rig.Thing{rig.At("a", 5), rig.At("b", 6)}, "1")
		time.Sleep(12 * time.Second)
		logged := lines()
		require.Len(t, logged, 1, "what takes as long as the limit is not slow")
		for _, part := range []string{"A handler was slow", `handler="sleeper"`, `object="ns/b"`, `event="Added"`, `took="6s"`, `limit="5s"`, "leftOut=0"} {
			assert.Contains(t, logged[0], part)
		}

		sinktest.Put(r.Sink, rig.At("a", 300), "2")
		time.Sleep(59 * time.Second)
		assert.False(t, r.Status().Handlers[0].Stuck)
		assert.Empty(t, lines())
		time.Sleep(17 * time.Second)
		assert.True(t, r.Status().Handlers[0].Stuck)
		text := strings.Join(lines(), "\n")
		assert.Contains(t, text, "A handler does not return")
		assert.Contains(t, text, `object="ns/a"`)
		assert.Contains(t, text, "newTakingAsLong", "the stack of the goroutine that hangs")
		time.Sleep(2 * time.Minute)
		assert.Empty(t, lines(), "once a call")
		time.Sleep(2 * time.Minute)
		assert.Contains(t, strings.Join(lines(), "\n"), `took="5m0s"`)

		time.Sleep(time.Minute)
		for n := range 12 {
			sinktest.Put(r.Sink, rig.At(fmt.Sprint(n), 6), fmt.Sprint(10+n))
		}
		time.Sleep(100 * time.Second)
		logged = lines()
		assert.Len(t, logged, 6+2, "six a minute")
		assert.Contains(t, logged[6], "leftOut=4")

		sinktest.Put(r.Sink, rig.At("b", 100), "30")
		time.Sleep(76 * time.Second)
		text = strings.Join(lines(), "\n")
		assert.Contains(t, text, "A handler does not return", "each call that hangs")
		assert.Contains(t, text, `object="ns/b"`)
	})
}

// TestCallTimesKeepTheLogOfSlowHandlers, in whichever order options are given.
func TestCallTimesKeepTheLogOfSlowHandlers(t *testing.T) {
	slow, times := observe.WithSlowHandlers(5*time.Second, time.Minute), observe.WithCallTimes()
	for name, opts := range map[string][]typed.Option{"times first": {times, slow}, "times last": {slow, times}} {
		t.Run(name, func(t *testing.T) {
			rig.InBubble(t, func(t *testing.T) {
				ctx, lines := rig.Lines()
				r := rig.New(t, opts...)
				_, err := r.Handle(newTakingAsLong())
				require.NoError(t, err)
				r.StartIn(ctx)
				sinktest.Replace(r.Sink, "", []*rig.Thing{rig.At("a", 6)}, "1")
				time.Sleep(time.Minute)
				assert.EqualValues(t, 1, r.Status().Handlers[0].Times.Calls())
				logged := lines()
				require.Len(t, logged, 1)
				assert.Contains(t, logged[0], "A handler was slow")
			})
		})
	}
}

// TestStuckWithoutTimes: Status alone reports a handler that hangs.
func TestStuckWithoutTimes(t *testing.T) {
	rig.InBubble(t, func(t *testing.T) {
		r := rig.New(t)
		_, err := r.Handle(newTakingAsLong())
		require.NoError(t, err)
		stuck := func() bool { return r.Status().Handlers[0].Stuck }
		r.Start()
		sinktest.Replace(r.Sink, "", []*rig.Thing{rig.At("a", 200), rig.At("b", 200), rig.At("c", 1000)}, "1")
		for range 15 { // c is begun after 400 s
			time.Sleep(30 * time.Second)
			assert.False(t, stuck())
		}
		time.Sleep(10 * time.Minute)
		assert.True(t, stuck())
		assert.Nil(t, r.Status().Handlers[0].Times)
		time.Sleep(time.Hour)
		assert.False(t, stuck(), "it has nothing to do")
	})
}

// TestStuckInACopyOfTheStore: Status reports a handler that hangs in one of the objects that were there
// when it was added, or in a resync, although no event waits.
func TestStuckInACopyOfTheStore(t *testing.T) {
	for _, policy := range []typed.Delivery{typed.EveryEvent(), typed.Coalesce()} {
		rig.InBubble(t, func(t *testing.T) {
			r := rig.New(t)
			r.Start()
			sinktest.Replace(r.Sink, "", []*rig.Thing{rig.At("a", 1000)}, "1")
			synctest.Wait()
			registration, err := r.Handle(newTakingAsLong(), typed.WithDelivery(policy))
			require.NoError(t, err)
			stuck := func() bool { return r.Status().Handlers[0].Stuck }
			for range 2 {
				assert.False(t, stuck(), policy)
				time.Sleep(4 * time.Minute)
				assert.False(t, stuck(), policy)
				time.Sleep(6 * time.Minute)
				assert.True(t, stuck(), policy)
				time.Sleep(10 * time.Minute)
				assert.False(t, stuck(), "%v: it has nothing to do", policy)
				registration.Resync()
				synctest.Wait()
			}
		})
	}
}

func TestPanicsAreCounted(t *testing.T) {
	crash, handlers := utilruntime.ReallyCrash, utilruntime.PanicHandlers
	defer func() { utilruntime.ReallyCrash, utilruntime.PanicHandlers = crash, handlers }()
	utilruntime.ReallyCrash, utilruntime.PanicHandlers = false, nil
	rig.InBubble(t, func(t *testing.T) {
		r := rig.New(t, observe.WithCallTimes())
		_, err := r.Handle(typed.HandlerFuncs[*rig.Thing]{AddFunc: func(o *rig.Thing, _ bool) {
			time.Sleep(time.Second)
			switch o.Name {
			case "fine":
			case "long":
				panic(asking{r.Status, strings.Repeat("é", 1000)})
			default:
				panic("cannot stand " + o.Name)
			}
		}})
		require.NoError(t, err)
		r.Start()
		sinktest.Replace(r.Sink, "", []*rig.Thing{rig.At("a", 1), rig.At("fine", 1)}, "1")
		time.Sleep(time.Minute)
		s := r.Status().Handlers[0]
		assert.Equal(t, 1, s.Panics)
		assert.Equal(t, "cannot stand a", s.LastPanic)
		assert.WithinDuration(t, time.Now(), s.LastPanicAt, time.Minute)
		assert.EqualValues(t, 2, s.Times.Calls(), "a call that panics is one")
		assert.Nil(t, s.Current)

		sinktest.Put(r.Sink, rig.At("long", 2), "2")
		time.Sleep(time.Minute)
		s = r.Status().Handlers[0]
		assert.Equal(t, 2, s.Panics)
		assert.Equal(t, strings.Repeat("é", 500)+" …", s.LastPanic)
	})
}

// asking is a value whose text asks for a status.
type asking struct {
	status func() report.Status
	text   string
}

func (a asking) String() string {
	a.status()
	return a.text
}

func TestSlowIndexes(t *testing.T) {
	rig.InBubble(t, func(t *testing.T) {
		ctx, lines := rig.Lines()
		r := rig.New(t, observe.WithSlowIndexes(time.Second))
		by := func(name string, takes func(o *rig.Thing) time.Duration) *index.Index[string, *rig.Thing] {
			return index.Single(name, func(o *rig.Thing) (string, bool) {
				time.Sleep(takes(o))
				return o.Name, true
			})
		}
		require.NoError(t, r.AddIndexes(
			by("steady", func(*rig.Thing) time.Duration { return 600 * time.Millisecond }),
			by("slow", func(o *rig.Thing) time.Duration { return time.Duration(o.Version) * time.Second })))
		r.StartIn(ctx)
		sinktest.Replace(r.Sink, "", []*rig.Thing{rig.At("a", 0), rig.At("b", 0), rig.At("c", 3)}, "1")
		time.Sleep(time.Minute)
		logged := lines()
		require.Len(t, logged, 1, "a write of many objects is slow, none of them is")
		for _, part := range []string{"An index function was slow", `index="slow"`, `object="ns/c"`, `took="3s"`, `limit="1s"`} {
			assert.Contains(t, logged[0], part)
		}
		sinktest.Put(r.Sink, rig.At("a", 1), "2")
		sinktest.Delete(r.Sink, rig.At("c", 9), "3")
		time.Sleep(time.Minute)
		assert.Empty(t, lines())
		sinktest.Put(r.Sink, rig.At("a", 2), "4")
		time.Sleep(time.Minute)
		assert.Len(t, lines(), 1)
	})
}

func TestSlowOptionsRejectBadArguments(t *testing.T) {
	for want, opt := range map[string]typed.Option{
		"WithSlowHandlers: the limit 0s is not positive":                                observe.WithSlowHandlers(0, 0),
		"WithSlowHandlers: the time -1ns after which a stack is logged is negative":     observe.WithSlowHandlers(1, -1),
		"WithSlowIndexes: the limit -1s is not positive":                                observe.WithSlowIndexes(-time.Second),
		"WithHistory: 0 events cannot be kept":                                          observe.WithHistory(0),
		"WithBudget: there is no limit, give Objects or Bytes":                          observe.WithBudget(observe.Budget{}),
		"WithBudget: a limit is negative":                                               observe.WithBudget(observe.Budget{Objects: -1, Bytes: 1}),
		"WithTotalBudget is for the informers of a factory together, give it to NewFac": observe.WithTotalBudget(observe.Budget{Objects: 1}),
	} {
		assert.ErrorContains(t, rig.New(t, opt).Err(), want)
	}
}
