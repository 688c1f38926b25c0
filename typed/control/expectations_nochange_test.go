package control_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubetyped/informer/index"
	"github.com/kubetyped/informer/internal/test/rig"
	"github.com/kubetyped/informer/internal/test/sinktest"
	"github.com/kubetyped/informer/queue"
	"github.com/kubetyped/informer/typed/control"
)

// TestExpectNoChange: a controller starts, or gets a key again, and its write changes nothing. The
// write returns a version that a list has delivered, and there is nothing to wait for.
func TestExpectNoChange(t *testing.T) {
	for name, list := range map[string]func(*rig.Rig){
		"all": func(r *rig.Rig) { sinktest.Replace(r.Sink, "", []*rig.Thing{rig.At("a", 5)}, "7") },
		"namespaces": func(r *rig.Rig) {
			sinktest.Replace(r.Sink, "", nil, "1")
			sinktest.Replace(r.Sink, "default", []*rig.Thing{rig.At("a", 5)}, "")
			sinktest.Bookmark(r.Sink, "7")
		},
	} {
		t.Run(name, func(t *testing.T) {
			rig.InBubble(t, func(t *testing.T) {
				r := rig.New(t)
				q, err := queue.NewWorkQueue[index.Key]()
				require.NoError(t, err)
				e, err := control.NewExpectations(q)
				require.NoError(t, err)
				_, err = r.Handle(control.Enqueue[*rig.Thing](q))
				require.NoError(t, err)
				r.Start()
				list(r)
				synctest.Wait()
				calls := 0
				ctx, cancel := context.WithCancel(t.Context())
				ended := make(chan error)
				go func() {
					ended <- q.Run(ctx, 1, e.Wrap(func(_ context.Context, key index.Key) error {
						calls++
						time.Sleep(time.Millisecond) // for which a request takes
						return e.Expect(key, r, "5")
					}))
				}()
				time.Sleep(time.Minute)
				synctest.Wait()
				assert.LessOrEqual(t, calls, 2, "the first informer of which something is expected was not asked before")
				for range 3 {
					before := calls
					q.Add(rig.Key("a"))
					time.Sleep(time.Minute)
					synctest.Wait()
					assert.Equal(t, before+1, calls)
				}
				cancel()
				require.NoError(t, <-ended)
			})
		})
	}
}

// TestExpectByListDuringACall: a list comes while the function of a key runs, which wrote before
// it, or expects a version from before it.
func TestExpectByListDuringACall(t *testing.T) {
	rig.InBubble(t, func(t *testing.T) {
		r := rig.New(t)
		d := newDesk(t)
		r.Start()
		sinktest.Replace(r.Sink, "", nil, "1")
		synctest.Wait()
		require.NoError(t, d.Expect("first", r, "1"), "its lists are counted from now on")
		assert.Equal(t, []string{"first"}, d.added())
		process := func(during func()) {
			t.Helper()
			require.NoError(t, d.Wrap(func(context.Context, string) error {
				during()
				synctest.Wait()
				return nil
			})(t.Context(), "k"))
		}
		process(func() {
			sinktest.Replace(r.Sink, "", nil, "6")
			synctest.Wait()
			require.NoError(t, d.Expect("k", r, "5"))
		})
		assert.Equal(t, []string{"k"}, d.added(), "5 may have been deleted before 6")
		process(func() { require.NoError(t, d.Expect("k", r, "5")) })
		assert.Empty(t, d.added(), "the function has read what there was at 6")
		process(func() {
			require.NoError(t, d.Expect("k", r, "8"))
			sinktest.Replace(r.Sink, "", nil, "9")
		})
		assert.Equal(t, []string{"k"}, d.added(), "a list may have missed it")
		process(func() {
			require.NoError(t, d.Expect("k", r, "10"))
			sinktest.Bookmark(r.Sink, "11")
		})
		assert.Empty(t, d.added(), "an event tells of it")
		process(func() { require.NoError(t, d.ExpectDeleted("k", r, rig.At("a", 12))) })
		sinktest.Replace(r.Sink, "", nil, "13")
		assert.Equal(t, []string{"k"}, d.added())
		assert.Zero(t, d.Stats().Keys)
	})
}
