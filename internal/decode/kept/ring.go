package kept

import "sync"

// budget is the memory of the objects in the ring, about.
const budget = 8 << 20

// recent is the ring of the program.
var recent ring

// ring is the objects that were decoded last, in order.
type ring struct {
	mu    sync.Mutex
	first int     // guarded by mu; where the oldest entry is
	all   []entry // guarded by mu
	bytes int64   // guarded by mu
}

type entry struct {
	of   *Object
	what *decoded
}

// add adds an object that was decoded, and drops the oldest ones that have no room any more.
func (r *ring) add(of *Object, what *decoded) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.all = append(r.all, entry{of, what})
	r.bytes += what.size
	for r.bytes > budget && r.first < len(r.all)-1 {
		oldest := &r.all[r.first]
		oldest.of.last.CompareAndSwap(oldest.what, nil)
		r.bytes -= oldest.what.size
		*oldest = entry{}
		r.first++
	}
	if r.first > len(r.all)/2 {
		n := copy(r.all, r.all[r.first:])
		clear(r.all[n:])
		r.all, r.first = r.all[:n], 0
	}
}
