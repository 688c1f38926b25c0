package packed

import (
	"sync/atomic"
	"time"

	"github.com/kubetyped/informer/internal/heapsize"
)

// SharedByObjects keeps the base out of the memory that an object is said to take: Record.Add
// counts it, once for all of its objects.
func (*base) SharedByObjects() {}

// Add adds the record, and its base unless it was added before, to a sum.
func (r Record) Add(to *heapsize.PackedSum) {
	size := int64(len(r.data))
	to.Bytes += size
	if r.base == nil {
		to.Raw += size
		return
	}
	to.Raw += textSize(r.data)
	if !to.IsNew(r.base) {
		return
	}
	to.Bases++
	bytes := int64(len(r.base.data))
	if root := r.base.root; root != nil && to.IsNew(root) {
		bytes += int64(len(*root))
	}
	to.Bytes, to.OfBases = to.Bytes+bytes, to.OfBases+bytes
}

// textSize returns the length of the text that a delta makes.
func textSize(delta string) (size int64) {
	for len(delta) > 0 {
		inserted, n := uvarint(delta)
		if n <= 0 || inserted > uint64(len(delta)-n) {
			break
		}
		size += int64(inserted)
		if delta = delta[n+int(inserted):]; delta == "" {
			break
		}
		copied, n := uvarint(delta)
		if n <= 0 {
			break
		}
		delta = delta[n:]
		if _, n = uvarint(delta); n <= 0 {
			break
		}
		size, delta = size+int64(copied), delta[n:]
	}
	return size
}

// Decoded counts how often objects were decoded, and how long that took. Several goroutines may
// use it at once.
type Decoded struct {
	count atomic.Uint64
	took  atomic.Int64
}

// Since counts an object whose decoding began at a time.
func (d *Decoded) Since(began time.Time) {
	d.count.Add(1)
	d.took.Add(int64(time.Since(began)))
}

// Add adds the counts to a sum, unless they were added before.
func (d *Decoded) Add(to *heapsize.PackedSum) {
	if to.IsNew(d) {
		to.Decoded, to.Took = to.Decoded+d.count.Load(), to.Took+time.Duration(d.took.Load())
	}
}
