package control_test

import (
	"strconv"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/kubetyped/informer/internal/test/rig"
	"github.com/kubetyped/informer/internal/test/sinktest"
	"github.com/kubetyped/informer/internal/test/waves"
	"github.com/kubetyped/informer/typed/control"
)

// TestExpectationsGiveBack: keys that have expected something, and have seen it; and what
// the informer has kept of them.
func TestExpectationsGiveBack(t *testing.T) {
	rig.InBubble(t, func(t *testing.T) {
		waves.GivesBack(t, func() waves.Structure {
			r := rig.New(t)
			r.Start()
			sinktest.Replace(r.Sink, "", nil, "1")
			synctest.Wait()
			expect, err := control.NewExpectations(control.AdderFunc[string](func(string) {}))
			require.NoError(t, err)
			thing := func(key int) *rig.Thing { return rig.At(strconv.Itoa(key), 1) }
			return waves.Structure{
				Come: func(key int) {
					sinktest.Put(r.Sink, thing(key), "")
					if key%500 == 0 {
						synctest.Wait()
					}
					require.NoError(t, expect.ExpectDeleted(strconv.Itoa(key), r, rig.At(strconv.Itoa(key), 2)))
				},
				Go: func(key int) {
					sinktest.Delete(r.Sink, thing(key), "2")
					if key%500 == 0 {
						synctest.Wait()
					}
				},
				Rest: func() {
					sinktest.Bookmark(r.Sink, "2")
					synctest.Wait()
				},
				End: func() { r.Stop() },
			}
		})
	})
}
