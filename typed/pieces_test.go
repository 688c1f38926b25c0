package typed_test

import (
	"fmt"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubetyped/informer/index"
	"github.com/kubetyped/informer/internal/test/rig"
	"github.com/kubetyped/informer/internal/test/sinktest"
)

// TestBurstsAreStoredInPieces queues 2,000 objects while the informer is busy with one:
// it stores them a few hundred at a time, so that readers need not wait for all of
// them, and is at the version of the last one only when that is there.
func TestBurstsAreStoredInPieces(t *testing.T) {
	rig.InBubble(t, func(t *testing.T) {
		r := rig.New(t)
		busy := make(chan struct{})
		var sizes []int
		require.NoError(t, r.AddIndexes(index.Single("looking", func(o *rig.Thing) (int, bool) {
			if o.Name == "first" {
				<-busy
			}
			if n := r.Len(); len(sizes) == 0 || sizes[len(sizes)-1] != n {
				sizes = append(sizes, n)
				assert.Equal(t, n == 0, r.ResourceVersion() == "1")
			}
			return o.Version, true
		})))
		rec := r.Record()
		r.Start()
		sinktest.Replace(r.Sink, "", nil, "1")
		synctest.Wait()
		sinktest.Put(r.Sink, rig.At("first", 2), "2")
		synctest.Wait() // it is busy
		var want []string
		for i := range 2000 {
			sinktest.Put(r.Sink, rig.At(fmt.Sprint("o", i), 3+i), fmt.Sprint(3+i))
			want = append(want, fmt.Sprintf("add o%d@%d", i, 3+i))
		}
		close(busy)
		assert.Equal(t, append([]string{"add first@2"}, want...), rec.Next())
		assert.Equal(t, []int{0, 1, 257, 513, 769, 1025, 1281, 1537, 1793}, sizes)
		assert.Equal(t, "2002", r.ResourceVersion())
	})
}
