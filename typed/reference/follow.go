package reference

import (
	"context"
	"fmt"
	"time"

	"github.com/kubetyped/informer/internal/goroutine"
	"github.com/kubetyped/informer/internal/timing"
	"github.com/kubetyped/informer/typed/source"
)

const (
	// otherHistory is how long lists have to be too old until the history counts as another
	// one.
	otherHistory = 30 * time.Second
	// askAgain is how long it takes at least to ask again for a list that was too old; twice
	// that at most.
	askAgain = time.Second
)

// follow runs the source of a key until it ends or the key is released.
func (k *keySink[T]) follow() {
	defer k.cancel()
	src := k.entry.src
	k.mu.Lock()
	k.entry.src = nil // it runs once
	k.mu.Unlock()
	var err error
	for err == nil {
		var again bool
		again, err = k.attempt(src)
		if k.ctx.Err() != nil {
			return
		}
		if !again {
			break
		}
		pause := time.NewTimer(askAgain + time.Duration(timing.RandomFrom(k.ctx).Int64N(int64(askAgain))))
		select {
		case <-pause.C:
		case <-k.ctx.Done():
			pause.Stop()
			return
		}
		src, err = k.make(k.entry.key)
	}
	k.finish(err)
}

// attempt runs a source. It reports whether another one is to be run.
func (k *keySink[T]) attempt(src source.Source[T]) (again bool, err error) {
	ctx, cancel := context.WithCancel(source.WithFloor(k.ctx, k.floorNow))
	defer cancel()
	k.order.Lock()
	k.again, k.least = cancel, k.floorNow()
	k.order.Unlock()
	leave, err := k.opened.Add(src, func() []string { return k.sink.Decoding().Needs })
	if err != nil {
		return false, err
	}
	defer leave()
	err = goroutine.Contain(ctx, "the source of an object", func() error { return src.Run(ctx, k) })
	k.order.Lock()
	defer k.order.Unlock()
	if k.again == nil {
		return true, nil
	}
	return false, err
}

// accepts reports whether a list is not older than earlier reports, of the key or, if it is
// the first one, of any before the attempt began: the answer need not contain versions that other
// keys have reached since then. Otherwise the list is asked for again. The caller holds the lock,
// and calls flush.
func (k *keySink[T]) accepts(version string) bool {
	least := k.least
	if floor := k.floorNow(); isOlder(floor, least) {
		least = floor // of another history
	}
	if k.listed {
		least = k.version
	}
	if !isOlder(version, least) {
		k.below = time.Time{}
		return true
	}
	if k.below.IsZero() {
		k.below = time.Now()
	}
	if time.Since(k.below) >= otherHistory {
		k.below = time.Time{}
		k.floor.Store(&version)
		return true
	}
	k.fails(fmt.Errorf("the list is at version %s, and %s was seen before: it is asked for again, until %s after the first one",
		version, least, otherHistory), false)
	k.again()
	k.again = nil
	return false
}

// finish notes that the source has nothing more to say.
func (k *keySink[T]) finish(err error) {
	defer k.flush()
	k.order.Lock()
	defer k.order.Unlock()
	if k.removed || k.over {
		return
	}
	k.finished = true
	if err == nil && !k.listed {
		err = errNoList
	}
	if err != nil {
		k.fails(err, true)
	}
	if k.synced {
		if at := k.advance(); at != "" {
			k.sink.Step(nil, at, nil)
		}
	}
}
