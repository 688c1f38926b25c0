package kube

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"golang.org/x/sync/semaphore"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"

	"github.com/kubetyped/informer/internal/decode/wire"
)

// ListBudget bounds what lists of several sources have in progress at a time, such as those of
// all informers of a program that starts. Each list counts as what it can have in progress: 4
// MiB that a connection takes ahead of its reader (HTTP/2 in Go), and 256 KiB for each of
// GOMAXPROCS that wait to be decoded. Lists that come when the budget is spent wait for their
// turn, the first first. A budget of less than one list is one for a list at a time.
//
// Objects that have been decoded are not in it, nor are the answers that client-go
// decodes, which it has in memory as a whole. A list that has brought nothing for 30
// seconds is not counted any more, so that a server that does not answer holds up no
// other one.
type ListBudget struct {
	lists *semaphore.Weighted
	bytes int64
	each  int64 // what a list counts
}

// streamWindow is how many bytes of a response Go's HTTP/2 client takes before they are
// read.
const streamWindow = 4 << 20

// listSilence is after how long without an object a list is not counted any more.
const listSilence = 30 * time.Second

// longTurn is after how long a list that waits for its turn is reported.
const longTurn = 10 * time.Second

// NewListBudget returns a budget of so many bytes.
func NewListBudget(bytes int64) *ListBudget {
	each := int64(streamWindow + decoders()*wire.BytesUnderWay)
	bytes = max(bytes, each)
	return &ListBudget{semaphore.NewWeighted(bytes), bytes, each}
}

// WithListBudget makes the source's lists, streamed or not, wait for their turn. A source
// whose list waits for more than ten seconds reports it.
func WithListBudget(budget *ListBudget) SourceOption {
	return func(c *sourceConfig) error {
		if budget == nil {
			return errors.New("WithListBudget: budget is nil")
		}
		c.budget = budget
		return nil
	}
}

// acquire takes a list's part of the budget, and has late called if that takes long. It
// returns when late has, or will not be called.
func (b *ListBudget) acquire(ctx context.Context, late func()) error {
	if b.lists.TryAcquire(b.each) {
		return nil
	}
	ended := make(chan struct{})
	timer := time.AfterFunc(longTurn, func() {
		defer utilruntime.HandleCrash()
		defer close(ended)
		late()
	})
	err := b.lists.Acquire(ctx, b.each)
	if !timer.Stop() {
		<-ended
	}
	return err
}

// turn is a list's part of a budget. Without a budget, its methods do nothing.
type turn struct {
	budget *ListBudget

	mu      sync.Mutex
	number  int         // guarded by mu; of turns so far
	silence *time.Timer // guarded by mu; nil: the list is not counted
}

// take waits for the turn of a list. It returns the error of ctx.
func (t *turn) take(ctx context.Context, report func(error)) error {
	if t.budget == nil {
		return nil
	}
	t.giveBack() // a list that failed
	err := t.budget.acquire(ctx, func() {
		report(fmt.Errorf("the list has waited %s for others of its budget of %d MiB, see WithListBudget", longTurn, t.budget.bytes>>20))
	})
	if err != nil {
		return err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.number++
	number := t.number
	t.silence = time.AfterFunc(listSilence, func() { t.expire(number) })
	return nil
}

// expire ends a turn, unless it has ended.
func (t *turn) expire(number int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.number == number {
		t.end()
	}
}

// goOn notes that the list has brought something.
func (t *turn) goOn() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.silence != nil {
		t.silence.Reset(listSilence)
	}
}

// giveBack ends the turn, if there is one.
func (t *turn) giveBack() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.end()
}

// end ends the turn, if there is one. mu is held.
func (t *turn) end() {
	if t.silence == nil {
		return
	}
	t.silence.Stop()
	t.silence = nil
	t.budget.lists.Release(t.budget.each)
}
