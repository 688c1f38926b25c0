package index

import "sync/atomic"

// epoch records, for the writer of a group of vectors and tables, whether a reader may still
// be looking at their pages. Every page carries the generation in which the writer last made
// or copied it. As soon as a reader has taken a view, the next batch of writes starts a new
// generation, and each page is copied once before it is written in that generation. A fork has
// a new generation from the beginning, so that it leaves all pages of the original as they
// are.
//
// Readers call share under the indexer's read lock, the writer calls begin
// under its write lock, so the two never overlap.
type epoch struct {
	shared atomic.Bool
	gen    uint64 // guarded by the indexer's write lock

	// lockFree says that readers may read the tables without a lock, so that they are written to
	// atomically, see optimistic. It is false in a fork, which has no readers.
	lockFree bool

	// moved counts the elements that were copied or moved to others' places, for
	// tests: all of it happens under the write lock, unless this is a fork's.
	moved uint64
}

// share notes that a reader has taken a view. The load comes first so that
// many readers of an unchanged state do not fight over the cache line.
func (e *epoch) share() {
	if !e.shared.Load() {
		e.shared.Store(true)
	}
}

// begin starts a new generation if a view was taken since the last one began.
func (e *epoch) begin() {
	if e.shared.Load() {
		e.gen++
		e.shared.Store(false)
	}
}

// fork makes e, which is new, the epoch of a fork.
func (e *epoch) fork(of *epoch) { e.gen = of.gen + 1 }

// adopt continues with the generation of a fork, the pages of which no reader has seen.
func (e *epoch) adopt(fork *epoch) {
	e.gen = fork.gen
	e.shared.Store(false)
}
