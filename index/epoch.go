package index

import "sync/atomic"

// epoch tells the writer of a group of vectors whether a reader may still be
// looking at their pages. Every page carries the generation in which the
// writer last made or copied it. As soon as a reader has taken a view, the
// next batch of writes starts a new generation, and each page is copied once
// before it is written in that generation.
//
// Readers call share under the indexer's read lock, the writer calls begin
// under its write lock, so the two never overlap.
type epoch struct {
	shared atomic.Bool
	gen    uint64 // guarded by the indexer's write lock
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

// renew notes that all pages were replaced by others of the current generation,
// which no reader has seen.
func (e *epoch) renew() { e.shared.Store(false) }
