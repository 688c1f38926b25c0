package kube

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"golang.org/x/sync/semaphore"
)

// ListBudget bounds what lists of several sources have under way at a time, such as
// those of all informers of a program that starts. Each list that is received counts
// as 5 MiB: 4 that a connection takes ahead of its reader (HTTP/2 in Go), and what waits
// to be decoded. Lists that come when the budget is spent wait for their turn, the
// first first. A budget of less than one list is one for a list at a time.
//
// Objects that have been decoded are not in it, nor are the answers that client-go
// decodes, which it has in memory as a whole. A list that has brought nothing for 30
// seconds is not counted any more, so that a server that does not answer holds up no
// other one.
type ListBudget struct {
	lists *semaphore.Weighted
	bytes int64
}

// listBytes is what a list counts.
const listBytes = 5 << 20

// listSilence is after how long without an object a list is not counted any more.
const listSilence = 30 * time.Second

// longTurn is after how long a list that waits for its turn is reported.
const longTurn = 10 * time.Second

// NewListBudget returns a budget of so many bytes, of which a list counts as 5 MiB.
func NewListBudget(bytes int64) *ListBudget {
	bytes = max(bytes, listBytes)
	return &ListBudget{semaphore.NewWeighted(bytes), bytes}
}

// WithListBudget has the source's lists, streamed or not, wait for their turn. A source
// whose list waits for more than ten seconds reports it.
func WithListBudget(budget *ListBudget) SourceOption {
	return func(c *sourceConfig) error {
		if budget == nil {
			return errors.New("the list budget is nil")
		}
		c.budget = budget
		return nil
	}
}

// turn is a list's part of a budget. Without a budget, its methods do nothing.
type turn struct {
	budget *ListBudget

	mu      sync.Mutex
	silence *time.Timer // guarded by mu; nil: the list is not counted
}

// take waits for the turn of a list. It returns the error of ctx.
func (t *turn) take(ctx context.Context, report func(error)) error {
	if t.budget == nil {
		return nil
	}
	t.giveBack() // a list that failed
	if !t.budget.lists.TryAcquire(listBytes) {
		late := time.AfterFunc(longTurn, func() {
			report(fmt.Errorf("the list has waited %s for others of its budget of %d MiB, see WithListBudget", longTurn, t.budget.bytes>>20))
		})
		err := t.budget.lists.Acquire(ctx, listBytes)
		late.Stop()
		if err != nil {
			return err
		}
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.silence = time.AfterFunc(listSilence, t.giveBack)
	return nil
}

// goOn notes that the list has brought something.
func (t *turn) goOn() {
	if t.budget == nil {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.silence != nil {
		t.silence.Reset(listSilence)
	}
}

// giveBack ends the turn, if there is one.
func (t *turn) giveBack() {
	if t.budget == nil {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.silence != nil {
		t.silence.Stop()
		t.silence = nil
		t.budget.lists.Release(listBytes)
	}
}
