package parts

import (
	"math/rand/v2"
	"runtime"
	"strconv"
	"sync"
	"testing"
	"time"
	"unsafe"
	"weak"

	"github.com/stretchr/testify/assert"

	"github.com/kubetyped/informer/internal/test/waves"
)

// piece is a value of a kind, which says what it was made from.
type piece struct {
	kind  uint32
	bytes string
}

// decoders use a table at once: each makes values of thousands of bytes, keeps some, releases them,
// and finds others' again.
type decoders struct {
	*testing.T
	table *Table
	bytes int // how many different ones there are

	mu   sync.Mutex
	kept map[piece]weak.Pointer[piece] // guarded by mu; the last that was kept, by its bytes
}

// TestTableWaves: decoders use a table at once, and the collector runs meanwhile.
//
//  1. A value that is found has the requested kind and bytes.
//  2. The value that was kept last, and is held, is found.
//  3. In the end, when no value is held, the table is small, except for its memory of
//     values seen.
func TestTableWaves(t *testing.T) {
	waves.Run(t, 5, func(t *testing.T, seed uint64) {
		r := rand.New(rand.NewPCG(seed, 5))
		d := &decoders{T: t, table: NewTable(), bytes: []int{5, 300, 20_000, 200_000}[r.IntN(4)], kept: map[piece]weak.Pointer[piece]{}}
		var running sync.WaitGroup
		for n := range 1 + r.IntN(3) {
			own := rand.New(rand.NewPCG(seed, uint64(10+n)))
			running.Go(func() { d.decode(own) })
		}
		for range r.IntN(4) {
			runtime.GC()
		}
		running.Wait()
		assert.Eventually(t, func() bool {
			runtime.GC()
			return d.table.Usage().Bytes <= shardCount*(smallShard*24+lastSightings*4+256)
		}, time.Minute, time.Millisecond, "the table has kept its memory")
		clear(d.kept)
		d.decode(r) // it is as good as new
	})
}

// decode makes and releases values.
func (d *decoders) decode(r *rand.Rand) {
	held := map[piece]*piece{}
	for range 3 + r.IntN(10) {
		n, from, stride := 1+r.IntN(3*d.bytes)%10_000, r.IntN(d.bytes), 1+r.IntN(d.bytes)
		for i := range n {
			d.find(r, held, piece{uint32(1 + r.IntN(2)*i%2), strconv.Itoa((from + i*stride) % d.bytes)})
		}
		if r.IntN(3) == 0 { // all except a few are released
			gone := r.IntN(100)
			for of := range held {
				if r.IntN(100) < gone {
					delete(held, of)
				}
			}
		}
		if r.IntN(6) == 0 {
			runtime.GC()
		}
		for of, made := range held { // some of them again
			if n--; n < 0 || d.Failed() {
				break
			}
			d.mu.Lock()
			if d.kept[of].Value() == made {
				d.mustFind(of, made)
			}
			d.mu.Unlock()
		}
		if d.Failed() {
			return
		}
	}
}

// find looks for a value, and makes it and keeps it if it is to be kept. With several
// decoders, two may do so at once: the last counts.
func (d *decoders) find(r *rand.Rand, held map[piece]*piece, want piece) {
	found, ticket := d.table.Find(want.kind, []byte(want.bytes))
	if found.Data != nil {
		got := (*piece)(found.Data)
		if found.Len != len(want.bytes) || *got != want {
			assert.Fail(d, "another value is found", "%v in the place of %v", *got, want)
		}
		held[want] = got
		return
	}
	if ticket.hash == 0 || r.IntN(10) == 0 {
		return
	}
	made := &piece{want.kind, want.bytes}
	d.mu.Lock()
	d.table.Keep(ticket, Part{unsafe.Pointer(made), len(want.bytes)})
	d.kept[want] = weak.Make(made)
	d.mustFind(want, made)
	d.mu.Unlock()
	held[want] = made
}

// mustFind checks that what was kept last is found. The caller holds mu.
func (d *decoders) mustFind(want piece, made *piece) {
	if found, _ := d.table.Find(want.kind, []byte(want.bytes)); found.Data != unsafe.Pointer(made) {
		assert.Fail(d, "what is held is not found", "%v", want)
	}
	runtime.KeepAlive(made)
}
