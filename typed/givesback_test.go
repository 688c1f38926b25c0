package typed_test

import (
	"errors"
	"runtime"
	"strconv"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/kubetyped/informer/index"
	"github.com/kubetyped/informer/internal/test/rig"
	"github.com/kubetyped/informer/internal/test/sinktest"
	"github.com/kubetyped/informer/internal/test/waves"
	"github.com/kubetyped/informer/typed"
	"github.com/kubetyped/informer/typed/observe"
	"github.com/kubetyped/informer/typed/source"
)

// running returns an informer that has an empty list.
func running(t *testing.T, opts ...typed.Option) *rig.Rig {
	r := rig.New(t, opts...)
	r.Start()
	sinktest.Replace(r.Sink, "", nil, "1")
	synctest.Wait()
	return r
}

// letIn makes the informer process the reports, now and then.
func letIn(key int) {
	if key%100 == 0 {
		synctest.Wait()
	}
}

// TestRejectionsGiveBack: what was rejected is forgotten when it is gone.
func TestRejectionsGiveBack(t *testing.T) {
	rig.InBubble(t, func(t *testing.T) {
		wrong := errors.New("it is wrong")
		waves.GivesBack(t, func() waves.Structure {
			r := running(t)
			return waves.Structure{
				Come: func(key int) {
					r.Sink.Report(&source.RejectedError{Key: rig.Key(strconv.Itoa(key)), Err: wrong})
					letIn(key)
				},
				Go: func(key int) {
					sinktest.Remove(r.Sink, rig.Key(strconv.Itoa(key)), index.Watched, "")
					letIn(key)
				},
				Rest: func() {
					sinktest.Bookmark(r.Sink, "")
					synctest.Wait()
				},
				End: func() { r.Stop() },
			}
		})
	})
}

// TestInformerGivesBack: an informer with a history, a handler that gets every event, and
// one that coalesces.
func TestInformerGivesBack(t *testing.T) {
	rig.InBubble(t, func(t *testing.T) {
		waves.GivesBack(t, func() waves.Structure {
			r := running(t, observe.WithHistory(100))
			for _, policy := range []typed.Delivery{typed.EveryEvent(), typed.Coalesce()} {
				_, err := r.Handle(typed.HandlerFuncs[*rig.Thing]{}, typed.WithDelivery(policy))
				require.NoError(t, err)
			}
			return waves.Structure{
				Come: func(key int) {
					sinktest.Put(r.Sink, rig.At(strconv.Itoa(key), key+1), "")
					letIn(key)
				},
				Go: func(key int) {
					sinktest.Delete(r.Sink, rig.At(strconv.Itoa(key), key+1), "")
					letIn(key)
				},
				Rest: func() {
					sinktest.Bookmark(r.Sink, "")
					synctest.Wait()
				},
				End: func() { r.Stop() },
			}
		})
	})
}

// TestExpectedGivesBack: ended waits for a version or a deletion free their memory.
func TestExpectedGivesBack(t *testing.T) {
	rig.InBubble(t, func(t *testing.T) {
		for name, expect := range map[string]func(*rig.Rig, int) (typed.Expected, error){
			"version": func(r *rig.Rig, key int) (typed.Expected, error) { return r.ExpectVersion(strconv.Itoa(5 + key%9)) },
			"deletion": func(r *rig.Rig, key int) (typed.Expected, error) {
				return r.ExpectDeleted(rig.At(strconv.Itoa(key), 5))
			},
		} {
			t.Log(name)
			waiting := make([]typed.Expected, 1_000_000)
			waves.GivesBack(t, func() waves.Structure {
				r := running(t)
				return waves.Structure{
					Come: func(key int) {
						e, err := expect(r, key)
						require.NoError(t, err)
						e.Watch(func() {})
						waiting[key] = e
					},
					Go: func(key int) {
						waiting[key].Unwatch()
						waiting[key] = nil
					},
					End: func() {
						clear(waiting)
						r.Stop()
					},
				}
			})
		}
	})
}

// TestListCountsGiveBack: an informer forgets who counted its lists and is gone, such as the
// expectations of a controller that has ended, and no other.
func TestListCountsGiveBack(t *testing.T) {
	rig.InBubble(t, func(t *testing.T) {
		r := running(t)
		expected, err := r.ExpectVersion("9")
		require.NoError(t, err)
		count := expected.(interface {
			CountLists(*typed.ListCount) bool
		}).CountLists
		stays := &typed.ListCount{}
		require.False(t, count(stays))
		for range 1000 {
			require.False(t, count(&typed.ListCount{}))
		}
		runtime.GC()
		before := stays.Mark()
		sinktest.Replace(r.Sink, "", nil, "2")
		synctest.Wait()
		require.True(t, stays.Since(before), "it counts still")
		require.Equal(t, 1, r.ListCounts())
		require.True(t, count(stays))
		for range 1000 {
			require.False(t, count(&typed.ListCount{}))
		}
		runtime.GC()
		require.False(t, count(&typed.ListCount{}))
		require.LessOrEqual(t, r.ListCounts(), 2, "also without a list")
		runtime.KeepAlive(stays)
	})
}
