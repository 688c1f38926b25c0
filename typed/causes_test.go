package typed_test

import (
	"context"
	"errors"
	"runtime"
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
	"github.com/kubetyped/informer/typed/source"
)

// calling is a source that is a function.
type calling func(ctx context.Context, sink source.Sink[*rig.Thing]) error

func (c calling) Run(ctx context.Context, sink source.Sink[*rig.Thing]) error { return c(ctx, sink) }

// runInBubble runs an informer until the test ends, and returns the result of Run.
func runInBubble(t *testing.T, things *typed.Informer[*rig.Thing]) <-chan error {
	ctx, cancel := context.WithCancel(t.Context())
	result, ended := make(chan error, 1), make(chan struct{})
	go func() {
		defer close(ended)
		result <- things.Run(ctx)
	}()
	t.Cleanup(func() {
		cancel()
		<-ended
	})
	return result
}

// badlyIndexed is an index whose function panics for an object.
func badlyIndexed(name string) *index.Index[string, *rig.Thing] {
	return index.New("bad", func(o *rig.Thing) []string {
		if o.Name == name {
			panic("bad")
		}
		return nil
	})
}

// surviveCrashes makes panics that are reported not end the program.
func surviveCrashes(t *testing.T) {
	crash, handlers := utilruntime.ReallyCrash, utilruntime.PanicHandlers
	utilruntime.ReallyCrash, utilruntime.PanicHandlers = false, nil
	t.Cleanup(func() { utilruntime.ReallyCrash, utilruntime.PanicHandlers = crash, handlers })
}

// TestRunReturnsTheCauseAfterItsSource: what ends the informer after the source has returned is
// what Run returns.
func TestRunReturnsTheCauseAfterItsSource(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		things := typed.NewInformer[*rig.Thing](calling(func(_ context.Context, sink source.Sink[*rig.Thing]) error {
			sinktest.Replace(sink, "", []*rig.Thing{rig.At("a", 1), rig.At("b", 1)}, "1")
			return nil
		}), observe.WithBudget(observe.Budget{Objects: 1, Stop: true}))
		require.NoError(t, things.AddIndexes(index.New("slow", func(*rig.Thing) []string { time.Sleep(time.Second); return nil })))
		result := runInBubble(t, things)
		var over *observe.BudgetError
		assert.ErrorAs(t, <-result, &over)
	})
}

// TestIndexFunctionEndsTheGoroutine: the informer ends with an error, rather than wait for ever.
func TestIndexFunctionEndsTheGoroutine(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		things := typed.NewInformer[*rig.Thing](calling(func(ctx context.Context, sink source.Sink[*rig.Thing]) error {
			sinktest.Replace(sink, "", []*rig.Thing{rig.At("a", 1)}, "1")
			<-ctx.Done()
			return nil
		}))
		require.NoError(t, things.AddIndexes(index.New("exits", func(*rig.Thing) []string { runtime.Goexit(); return nil })))
		result := runInBubble(t, things)
		assert.ErrorContains(t, <-result, "has ended the informer's goroutine")
		assert.ErrorContains(t, things.WaitForSync(t.Context()), "has ended the informer's goroutine")
	})
}

// TestWithheldListAndThenANamespace: after a first list of which an index function took no object,
// the list of a namespace is enough to sync.
func TestWithheldListAndThenANamespace(t *testing.T) {
	surviveCrashes(t)
	synctest.Test(t, func(t *testing.T) {
		things := typed.NewInformer[*rig.Thing](calling(func(ctx context.Context, sink source.Sink[*rig.Thing]) error {
			elsewhere := &rig.Thing{Namespace: "elsewhere", Name: "bad", Version: 1}
			sinktest.Replace(sink, "", []*rig.Thing{rig.At("bad", 1), elsewhere}, "1")
			time.Sleep(time.Second)
			sinktest.Replace(sink, "ns", []*rig.Thing{rig.At("good", 2)}, "2")
			<-ctx.Done()
			return nil
		}))
		require.NoError(t, things.AddIndexes(badlyIndexed("bad")))
		runInBubble(t, things)
		waiting, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		assert.NoError(t, things.WaitForSync(waiting))
		assert.Equal(t, 1, things.Len())
		assert.Equal(t, 1, things.Status().RejectedNow, "the one elsewhere")
	})
}

// TestNamespaceOfAWithheldListIsListed: once something of it can be used, the namespace counts as
// listed.
func TestNamespaceOfAWithheldListIsListed(t *testing.T) {
	surviveCrashes(t)
	synctest.Test(t, func(t *testing.T) {
		src := source.FromNamespaces(source.NewNamespaces("ns"), func(string) source.Source[*rig.Thing] {
			return calling(func(ctx context.Context, sink source.Sink[*rig.Thing]) error {
				sinktest.Replace(sink, "", []*rig.Thing{rig.At("bad", 1)}, "1")
				time.Sleep(time.Second)
				sinktest.Put(sink, rig.At("good", 2), "2")
				<-ctx.Done()
				return nil
			})
		})
		things := typed.NewInformer(src)
		require.NoError(t, things.AddIndexes(badlyIndexed("bad")))
		runInBubble(t, things)
		require.NoError(t, things.WaitForSync(t.Context()))
		synctest.Wait()
		_, err := src.(source.Scoped).Stay("ns")
		assert.NoError(t, err)
	})
}

// TestDoneOfAWithheldList is called when the next list, which takes its place, is stored.
func TestDoneOfAWithheldList(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var done []string
		things := typed.NewInformer[*rig.Thing](calling(func(ctx context.Context, sink source.Sink[*rig.Thing]) error {
			reject := []source.Staged{source.Reject(rig.Key("x"))}
			sink.Report(&source.RejectedError{Key: rig.Key("x"), Err: errors.New("no good")})
			sink.Replace(source.List{Items: reject, Done: func() { done = append(done, "first") }}, "1")
			sink.Replace(source.List{Items: sinktest.StageAll(sink, rig.At("a", 2)), Done: func() { done = append(done, "second") }}, "2")
			sink.Replace(source.List{Items: sinktest.StageAll(sink, rig.At("a", 3)), Done: func() { done = append(done, "third") }}, "3")
			<-ctx.Done()
			return nil
		}))
		runInBubble(t, things)
		synctest.Wait()
		assert.Equal(t, []string{"first", "second", "third"}, done)
	})
}

// TestDoneOfAListThatLeaves is called as that of another list: at once, or with the first list if
// that was rejected.
func TestDoneOfAListThatLeaves(t *testing.T) {
	for name, rejected := range map[string]bool{"synced": false, "rejected": true} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				done := 0
				things := typed.NewInformer[*rig.Thing](calling(func(ctx context.Context, sink source.Sink[*rig.Thing]) error {
					first := source.List{Items: sinktest.StageAll(sink, rig.At("a", 1))}
					if rejected {
						sink.Report(&source.RejectedError{Key: rig.Key("x"), Err: errors.New("no good")})
						first.Items = []source.Staged{source.Reject(rig.Key("x"))}
					}
					sink.Replace(first, "1")
					sink.Replace(source.List{Namespace: "ns", Reason: index.OutOfScope, Done: func() { done++ }}, "2")
					<-ctx.Done()
					return nil
				}))
				runInBubble(t, things)
				synctest.Wait()
				assert.Equal(t, 1, done)
				assert.NoError(t, things.WaitForSync(t.Context()))
				assert.Zero(t, things.Len())
			})
		})
	}
}
