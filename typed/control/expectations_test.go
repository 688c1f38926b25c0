package control_test

import (
	"context"
	"errors"
	"runtime"
	"testing"
	"testing/synctest"
	"time"
	"weak"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"

	"github.com/kubetyped/informer/index"
	"github.com/kubetyped/informer/internal/test/rig"
	"github.com/kubetyped/informer/internal/test/sinktest"
	"github.com/kubetyped/informer/typed"
	"github.com/kubetyped/informer/typed/control"
	"github.com/kubetyped/informer/typed/source"
)

// desk is a queue with Expectations, and the function that they wrap.
type desk struct {
	*control.Expectations[string]
	adds[string]
	t    *testing.T
	call func(context.Context, string) error

	processed []string
}

func newDesk(t *testing.T, opts ...control.ExpectationOption) *desk {
	d := &desk{t: t}
	e, err := control.NewExpectations(&d.adds, opts...)
	require.NoError(t, err)
	d.Expectations = e
	d.call = e.Wrap(func(_ context.Context, key string) error {
		d.processed = append(d.processed, key)
		return nil
	})
	return d
}

// handOut calls the wrapped function with a key and reports whether that called
// the inner one.
func (d *desk) handOut(key string) bool {
	d.processed = nil
	assert.NoError(d.t, d.call(d.t.Context(), key))
	if len(d.processed) == 0 {
		return false
	}
	assert.Equal(d.t, []string{key}, d.processed)
	return true
}

// added returns the keys that were added since the last time.
func (d *desk) added() []string {
	synctest.Wait()
	return d.next()
}

func TestExpect(t *testing.T) {
	rig.InBubble(t, func(t *testing.T) {
		d, r := newDesk(t), rig.New(t)
		r.Start()
		sinktest.Replace(r.Sink, "", []*rig.Thing{rig.At("a", 1)}, "1")
		synctest.Wait()
		assert.True(t, d.handOut("k"), "nothing is expected")

		require.NoError(t, d.Expect("k", r, "1"))
		assert.Zero(t, d.Stats(), "it was seen before")
		assert.Equal(t, []string{"k"}, d.added(), "by a list")
		require.NoError(t, d.Expect("k", r, "5"))
		require.NoError(t, d.Expect("k", r, "9"))
		require.NoError(t, d.Expect("k", r, "7"))
		assert.False(t, d.handOut("k"))
		assert.False(t, d.handOut("k"))
		assert.True(t, d.handOut("other"), "other keys go on")
		assert.Equal(t, control.ExpectationStats{Keys: 1, Waiting: 1, PutOff: 2}, d.Stats())

		sinktest.Put(r.Sink, rig.At("a", 7), "7")
		assert.Empty(t, d.added())
		assert.False(t, d.handOut("k"), "the latest version counts")
		sinktest.Bookmark(r.Sink, "10")
		assert.Equal(t, []string{"k"}, d.added(), "with priority 0, once")
		assert.Equal(t, control.ExpectationStats{PutOff: 3}, d.Stats())
		assert.True(t, d.handOut("k"))
	})
}

// TestExpectByList: a written object is deleted before a list, so no event shows it. The key is
// added again, although it was not put off.
func TestExpectByList(t *testing.T) {
	for name, list := range map[string]func(*rig.Rig){
		"all":       func(r *rig.Rig) { sinktest.Replace(r.Sink, "", nil, "6") },
		"namespace": func(r *rig.Rig) { sinktest.Replace(r.Sink, "default", nil, ""); sinktest.Bookmark(r.Sink, "6") },
	} {
		t.Run(name, func(t *testing.T) {
			rig.InBubble(t, func(t *testing.T) {
				d, r := newDesk(t), rig.New(t)
				r.Start()
				sinktest.Replace(r.Sink, "", nil, "1")
				synctest.Wait()
				require.NoError(t, d.Expect("waits", r, "5"))
				require.NoError(t, d.Expect("later", r, "9"))
				list(r)
				assert.Equal(t, []string{"waits"}, d.added(), "by the list")
				require.NoError(t, d.Expect("late", r, "5"))
				assert.Equal(t, []string{"late"}, d.added(), "whose answer comes after the list")
				sinktest.Put(r.Sink, rig.At("a", 9), "9")
				assert.Equal(t, []string{"later"}, d.added(), "a list may have missed it")
				if name == "all" {
					require.NoError(t, d.Expect("seen", r, "8"))
					require.NoError(t, d.Expect("seen", r, "10"))
					sinktest.Put(r.Sink, rig.At("a", 10), "10")
					assert.Empty(t, d.added(), "an event tells of it")
				}
				assert.Zero(t, d.Stats())
			})
		})
	}
}

func TestExpectKeepsOnlyOpenExpectations(t *testing.T) {
	rig.InBubble(t, func(t *testing.T) {
		d, r := newDesk(t), rig.New(t)
		r.Start()
		sinktest.Replace(r.Sink, "", nil, "1")
		sinktest.Bookmark(r.Sink, "2")
		synctest.Wait()
		gone := rig.At("a", 2)
		for _, key := range []string{"j", "k", "l"} {
			require.NoError(t, d.Expect(key, r, "5"))
			require.NoError(t, d.ExpectDeleted(key, r, rig.At("b", 4)))
			require.NoError(t, d.ExpectDeleted(key, r, gone))
		}
		assert.Equal(t, control.ExpectationStats{Keys: 3}, d.Stats())
		sinktest.Bookmark(r.Sink, "5")
		assert.Empty(t, d.added(), "nobody was put off")
		assert.Zero(t, d.Stats())
	})
}

// TestExpectationsLetGoOfKeys sees whether anything holds on to a key that
// expects nothing any more: a table, a timer, or the informer.
func TestExpectationsLetGoOfKeys(t *testing.T) {
	r := rig.New(t)
	r.Start()
	sinktest.Replace(r.Sink, "", []*rig.Thing{rig.At("a", 1)}, "1")
	require.NoError(t, r.WaitForSync(t.Context()))
	e, err := control.NewExpectations(control.AdderFunc[*string](func(*string) {}))
	require.NoError(t, err)
	expect := func() weak.Pointer[string] {
		k := new(string)
		*k = "k"
		require.NoError(t, e.Expect(k, r, "5"))
		require.NoError(t, e.ExpectDeleted(k, r, rig.At("a", 1)))
		return weak.Make(k)
	}
	k := expect()
	runtime.GC()
	require.NotNil(t, k.Value())
	sinktest.Delete(r.Sink, rig.At("a", 5), "5")
	require.NoError(t, r.WaitForResourceVersion(t.Context(), "5"))
	// The informer has yet to call back, and the runtime keeps a stopped timer for a while.
	assert.Eventually(t, func() bool {
		runtime.GC()
		return k.Value() == nil
	}, time.Minute, time.Millisecond)
	assert.Zero(t, e.Stats())
}

func TestExpectSeveralInformers(t *testing.T) {
	rig.InBubble(t, func(t *testing.T) {
		d, things := newDesk(t), rig.New(t)
		others := typed.NewInformer[*rig.Thing](rig.NewScript())
		things.Start()
		sinktest.Replace(things.Sink, "", nil, "1")
		synctest.Wait()
		require.NoError(t, d.Expect("k", things, "5"))
		require.NoError(t, d.Expect("k", others, "3"))
		require.NoError(t, d.Expect("k", bares(t, "7"), "8"))
		assert.False(t, d.handOut("k"))
		sinktest.Bookmark(things.Sink, "100")
		assert.Empty(t, d.added(), "versions of different informers are not compared")
		assert.False(t, d.handOut("k"))
		assert.Equal(t, 1, d.Stats().Keys)
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		require.NoError(t, others.Run(ctx))
		assert.Empty(t, d.added())
		time.Sleep(time.Minute)
		assert.Equal(t, []string{"k"}, d.added())
		assert.True(t, d.handOut("k"))
		assert.Zero(t, d.Stats().Keys)
	})
}

// bare is an object that has nothing but a name.
type bare struct{ name string }

func (b *bare) GetName() string    { return b.name }
func (*bare) GetNamespace() string { return "" }

// bares returns an informer of objects of another type, with a list that comes
// after a minute.
func bares(t *testing.T, version string) *typed.Informer[*bare] {
	i := typed.NewInformer[*bare](bareList(version))
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error)
	go func() { ended <- i.Run(ctx) }()
	t.Cleanup(func() {
		cancel()
		assert.NoError(t, <-ended)
	})
	return i
}

// bareList is a source that has a list after a minute, and is at the version
// after it.
type bareList string

func (s bareList) Run(ctx context.Context, sink source.Sink[*bare]) error {
	time.Sleep(time.Minute)
	sinktest.Replace(sink, "", []*bare{{"a"}}, string(s))
	sinktest.Bookmark(sink, string(s)+"0")
	<-ctx.Done()
	return nil
}

func TestExpectUntilTheTimeIsOver(t *testing.T) {
	rig.InBubble(t, func(t *testing.T) {
		d, r := newDesk(t, control.WithExpectationTimeout(time.Minute)), rig.New(t)
		r.Start()
		sinktest.Replace(r.Sink, "", []*rig.Thing{rig.At("a", 1)}, "1")
		synctest.Wait()
		require.NoError(t, d.Expect("k", r, "5"))
		require.NoError(t, d.Expect("not handed out", r, "5"))
		time.Sleep(30 * time.Second)
		require.NoError(t, d.ExpectDeleted("k", r, rig.At("a", 1)), "one more write, which has as much time")
		assert.False(t, d.handOut("k"))
		time.Sleep(time.Minute - time.Nanosecond)
		assert.Empty(t, d.added())
		assert.Equal(t, control.ExpectationStats{Keys: 1, Waiting: 1, PutOff: 1, Expired: 1}, d.Stats())
		time.Sleep(time.Nanosecond)
		assert.Equal(t, []string{"k"}, d.added())
		assert.Equal(t, control.ExpectationStats{PutOff: 1, Expired: 2}, d.Stats())
		assert.True(t, d.handOut("k"))
		sinktest.Bookmark(r.Sink, "5")
		assert.Empty(t, d.added(), "it has gone on")
	})
}

func TestExpectationTimeoutUnlessItIsGiven(t *testing.T) {
	rig.InBubble(t, func(t *testing.T) {
		d, r := newDesk(t), rig.New(t)
		require.NoError(t, d.Expect("k", r, "5"), "an informer that does not run yet")
		assert.False(t, d.handOut("k"))
		time.Sleep(5*time.Minute - time.Nanosecond)
		assert.Empty(t, d.added())
		time.Sleep(time.Nanosecond)
		assert.Equal(t, []string{"k"}, d.added())
	})
}

func TestExpectOfAnInformerThatStops(t *testing.T) {
	rig.InBubble(t, func(t *testing.T) {
		d, r := newDesk(t), rig.New(t)
		r.Start()
		sinktest.Replace(r.Sink, "", []*rig.Thing{rig.At("a", 1)}, "1")
		synctest.Wait()
		require.NoError(t, d.Expect("k", r, "5"))
		require.NoError(t, d.ExpectDeleted("l", r, rig.At("a", 1)))
		assert.False(t, d.handOut("k"))
		assert.False(t, d.handOut("l"))
		r.Stop()
		assert.ElementsMatch(t, []string{"k", "l"}, d.added())
		assert.Zero(t, d.Stats().Keys)
		require.NoError(t, d.Expect("k", r, "6"))
		require.NoError(t, d.ExpectDeleted("k", r, rig.At("a", 1)))
		assert.Zero(t, d.Stats().Keys, "it will see nothing more")
		assert.True(t, d.handOut("k"))
	})
}

// An informer changes its store before it delivers the event: another event may add the key again
// first.
func TestExpectSeesUndeliveredEvents(t *testing.T) {
	rig.InBubble(t, func(t *testing.T) {
		hold := make(chan struct{})
		held := control.AdderFunc[string](func(string) { <-hold })
		blocked, err := control.NewExpectations[string](held)
		require.NoError(t, err)
		d, r := newDesk(t), rig.New(t)
		r.Start()
		sinktest.Replace(r.Sink, "", []*rig.Thing{rig.At("a", 1)}, "1")
		synctest.Wait()
		require.NoError(t, blocked.Expect("first", r, "2"))
		require.NoError(t, blocked.Wrap(func(context.Context, string) error { return nil })(t.Context(), "first"))
		require.NoError(t, d.Expect("k", r, "3"))
		require.NoError(t, d.ExpectDeleted("k", r, rig.At("a", 1)))
		assert.False(t, d.handOut("k"))

		sinktest.Delete(r.Sink, rig.At("a", 3), "3")
		synctest.Wait() // the informer waits for what first is added to
		assert.True(t, d.handOut("k"))
		assert.Equal(t, control.ExpectationStats{PutOff: 1}, d.Stats())
		close(hold)
		assert.Empty(t, d.added(), "it has gone on already")
	})
}

func TestExpectationsCheckTheirArguments(t *testing.T) {
	rig.InBubble(t, func(t *testing.T) {
		_, err := control.NewExpectations[string](nil)
		assert.ErrorContains(t, err, "queue is nil")
		_, err = control.NewExpectations(&adds[string]{}, nil)
		assert.ErrorContains(t, err, "option is nil")
		_, err = control.NewExpectations(&adds[string]{}, control.WithExpectationTimeout(0))
		assert.ErrorContains(t, err, "the timeout 0s is not positive")

		d, r := newDesk(t), rig.New(t, typed.WithName("things"))
		var none *typed.Informer[*rig.Thing]
		noUID := rig.At("a", 1)
		noUID.UID = ""
		wrong := typed.NewInformer[*rig.Thing](nil)
		for want, err := range map[string]error{
			`informer things: resource version "" is not a positive number`: d.Expect("k", r, ""),
			`resource version "0" is not a positive number`:                 d.Expect("k", r, "0"),
			`resource version "five" is not a positive number`:              d.Expect("k", r, "five"),
			"version 5 is not expected for key k: informer is nil":          d.Expect("k", nil, "5"),
			"informer is nil": d.Expect("k", none, "5"),
			"source is nil":   d.Expect("k", wrong, "5"),
			"a deletion is not expected for key k: informer is nil":        d.ExpectDeleted("k", nil, rig.At("a", 1)),
			"a deletion is not expected for key k: object is nil":          d.ExpectDeleted("k", r, nil),
			`resource version "-1" is not`:                                 d.ExpectDeleted("k", r, rig.At("a", -1)),
			`informer things: deletion of "ns/a" not expected: the object`: d.ExpectDeleted("k", r, noUID),
			"objects of type *control_test.bare have no method G":          d.ExpectDeleted("k", typed.NewInformer[*bare](bareList("7")), rig.At("a", 1)),
		} {
			assert.ErrorContains(t, err, want)
		}
		assert.Zero(t, d.Stats())
		assert.Nil(t, d.Wrap(nil))
	})
}

func TestWrapReturnsTheError(t *testing.T) {
	d := newDesk(t)
	failure := errors.New("failure")
	type contextKey struct{}
	ctx := context.WithValue(t.Context(), contextKey{}, 1)
	err := d.Wrap(func(got context.Context, key string) error {
		assert.Equal(t, ctx, got)
		assert.Equal(t, "k", key)
		return failure
	})(ctx, "k")
	assert.Equal(t, failure, err)
}

func TestWrapAllocatesNothingForOtherKeys(t *testing.T) {
	e, err := control.NewExpectations(control.AdderFunc[index.Key](func(index.Key) {}))
	require.NoError(t, err)
	call := e.Wrap(func(context.Context, index.Key) error { return nil })
	ctx, k := t.Context(), rig.Key("a")
	assert.Zero(t, testing.AllocsPerRun(100, func() { _ = call(ctx, k) }))
}

// unspeakable panics when it is asked what is expected.
type unspeakable struct{ typed.Expected }

func (unspeakable) String() string { panic("unspeakable") }

type unspeakableObserver struct{ control.Observer }

func (o unspeakableObserver) ExpectVersion(version string) (typed.Expected, error) {
	expected, err := o.Observer.ExpectVersion(version)
	return unspeakable{expected}, err
}

// TestKeysExpireAlsoIfAnotherPanics at the same time.
func TestKeysExpireAlsoIfAnotherPanics(t *testing.T) {
	crash, handlers := utilruntime.ReallyCrash, utilruntime.PanicHandlers
	t.Cleanup(func() { utilruntime.ReallyCrash, utilruntime.PanicHandlers = crash, handlers })
	utilruntime.ReallyCrash = false
	rig.InBubble(t, func(t *testing.T) {
		told := 0
		utilruntime.PanicHandlers = []func(context.Context, any){func(context.Context, any) { told++ }}
		d, r := newDesk(t, control.WithExpectationTimeout(time.Minute)), rig.New(t)
		r.Start()
		sinktest.Replace(r.Sink, "", nil, "1")
		synctest.Wait()
		require.NoError(t, d.Expect("a", unspeakableObserver{r}, "5"))
		require.NoError(t, d.Expect("b", r, "5"))
		assert.False(t, d.handOut("b"))
		time.Sleep(time.Minute)
		assert.Equal(t, []string{"b"}, d.added())
		assert.Equal(t, 1, told)
		assert.Equal(t, control.ExpectationStats{PutOff: 1, Expired: 2}, d.Stats())
	})
}

// watched is a script that reports the version of one object.
type watched struct {
	*rig.Script
	at string
}

func (s *watched) At(index.Key) string { return s.at }

// TestExpectOf: a key waits for the watch of the object, not for the slowest one.
func TestExpectOf(t *testing.T) {
	rig.InBubble(t, func(t *testing.T) {
		d := newDesk(t)
		s := &watched{Script: rig.NewScript(), at: "1"}
		r := rig.Over(t, s.Script, s)
		r.Start()
		sinktest.Replace(r.Sink, "", []*rig.Thing{rig.At("a", 1)}, "1")
		synctest.Wait()
		require.NoError(t, d.ExpectOf("key", r, rig.Key("a"), "5"))
		assert.False(t, d.handOut("key"))
		sinktest.Put(r.Sink, rig.At("a", 5), "")
		synctest.Wait() // the informer asks for the version
		s.at = "5"
		r.Sink.Step(nil, "", nil)
		synctest.Wait()
		assert.Equal(t, []string{"key"}, d.added())
		assert.True(t, d.handOut("key"))
		assert.ErrorContains(t, d.ExpectOf("key", nil, rig.Key("a"), "5"), "informer is nil")
		assert.ErrorContains(t, d.ExpectOf("key", r, rig.Key("a"), "soon"), "is not a positive number")
	})
}
