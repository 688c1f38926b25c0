package parts

import (
	"runtime"
	"strconv"
	"testing"
	"time"
	"unsafe"

	"github.com/stretchr/testify/assert"

	"github.com/kubetyped/informer/internal/test/waves"
)

// TestTableGivesBack: the table frees its own memory for unreachable values soon after a
// collection.
func TestTableGivesBack(t *testing.T) {
	waves.GivesBack(t, func() waves.Structure {
		table, held, now := NewTable(), map[int]*piece{}, 0
		return waves.Structure{
			Come: func(key int) {
				bytes := []byte(strconv.Itoa(key))
				table.Find(1, bytes)
				_, ticket := table.Find(1, bytes)
				held[key] = &piece{kind: 1}
				table.Keep(ticket, Part{unsafe.Pointer(held[key]), 1})
			},
			Go: func(key int) { delete(held, key) },
			Rest: func() {
				kept := make(map[int]*piece, len(held)) // the test's own memory
				for key, of := range held {
					kept[key] = of
				}
				held = kept
				now = 8*24*len(held) + shardCount*(smallShard*24+256)
				if len(held) > 0 {
					now += shardCount * lastSightings * 4
				}
				assert.Eventually(t, func() bool {
					runtime.GC()
					return table.Usage().Bytes <= now
				}, time.Minute, time.Millisecond)
			},
		}
	})
}
