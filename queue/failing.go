package queue

import (
	"cmp"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// Failing is a key whose processing by WorkQueue.Run has failed, and has not succeeded since.
type Failing struct {
	Key         string    // the key in words, as fmt.Sprint has it
	Failures    int       // how often it has failed in a row
	Since, Last time.Time // when it first did, and last
	Err         error     // the last error, the very value: it keeps alive what it refers to
	Terminal    bool      // Err is a TerminalError: the key is not retried until it is added again
}

const maxFailing = 10_000 // keys that are known to fail: if more do, they have a common cause

// failures knows the keys that fail. For keys that do not, a number is read.
type failures[K comparable] struct {
	number atomic.Int64 // len(keys)

	mu     sync.Mutex
	keys   map[K]Failing // guarded by mu; without the words
	missed uint64        // guarded by mu; failures of keys that are not in keys, as it is full
}

// failed notes that a key has failed.
func (f *failures[K]) failed(key K, err error, terminal bool, now time.Time) {
	f.mu.Lock()
	defer f.mu.Unlock()
	known, ok := f.keys[key]
	switch {
	case ok:
	case len(f.keys) == maxFailing:
		f.missed++
		return
	case f.keys == nil:
		f.keys = map[K]Failing{}
	}
	if !ok {
		known.Since = now
	}
	known.Failures++
	known.Last, known.Err, known.Terminal = now, err, terminal
	f.keys[key] = known
	f.number.Store(int64(len(f.keys)))
}

// succeeded notes that a key has not failed.
func (f *failures[K]) succeeded(key K) {
	if f.number.Load() == 0 {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.keys, key)
	if len(f.keys) == 0 {
		f.keys = nil // a map never shrinks
	}
	f.number.Store(int64(len(f.keys)))
}

// of returns what is known of a key that fails, nil if it does not.
func (f *failures[K]) of(key K) *Failing {
	f.mu.Lock()
	known, ok := f.keys[key]
	f.mu.Unlock()
	if !ok {
		return nil
	}
	known.Key = fmt.Sprint(key)
	return &known
}

// candidate is a key that may be among those that have failed most.
type candidate[K comparable] struct {
	key K
	Failing
}

// compare puts first what has failed more often, or else for longer.
func (c candidate[K]) compare(other candidate[K]) int {
	return cmp.Or(cmp.Compare(other.Failures, c.Failures), c.Since.Compare(other.Since))
}

// report notes the keys that fail in r, the first n of them by compare.
func (f *failures[K]) report(n int, r *Report) {
	f.mu.Lock()
	first := make([]candidate[K], 0, min(2*n, len(f.keys)))
	cut := n == 0 // first has been full: what comes after its n-th is of no interest
	for key, known := range f.keys {
		if r.FailingSince.IsZero() || known.Since.Before(r.FailingSince) {
			r.FailingSince = known.Since
		}
		c := candidate[K]{key, known}
		if cut && (n == 0 || c.compare(first[n-1]) >= 0) {
			continue
		}
		if len(first) == 2*n {
			slices.SortFunc(first, candidate[K].compare)
			first, cut = first[:n], true
		}
		first = append(first, c)
	}
	r.FailingKeys, r.MissedFailures = len(f.keys), f.missed
	f.mu.Unlock()
	slices.SortFunc(first, candidate[K].compare)
	for _, c := range first[:min(n, len(first))] {
		c.Failing.Key = fmt.Sprint(c.key)
		r.Failing = append(r.Failing, c.Failing)
	}
}
