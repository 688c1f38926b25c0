package snapshot

import "time"

// Severity reports how bad a problem is.
type Severity string

const (
	// Error: something does not work.
	Error Severity = "error"
	// Warning: something works badly, or will soon not work.
	Warning Severity = "warning"
	// Note: something is worth a look.
	Note Severity = "note"
)

// Problem is something that is wrong, in words.
type Problem struct {
	Severity Severity `json:"severity"`
	// Reason is what is wrong in one word, for programs: NotStarted, NotSynced, Forbidden,
	// Failing, Stopped, Silent, Rejected, HeapLarge, BudgetNear, BudgetExceeded, IndexSkewed,
	// HandlerStuck, HandlerSlow, HandlerBehind, HandlerPanicked, KeyFailing, QueueWaiting,
	// WorkerStuck, WorkerSlow, WriteNotSeen, LeaseLost, LeaseFailing, NoRanges,
	// ClusterFailing, KindMissing, CachedTwice. There may be others later.
	Reason string `json:"reason"`
	// Part is the ID of the part that it is about, "" if none is shown, and Name what that is
	// called.
	Part string `json:"part"`
	Name string `json:"name"`
	// Text describes the problem, in a sentence without a full stop.
	Text string `json:"text"`
	// Detail is the text of the error behind it, "" if there is none.
	Detail string `json:"detail,omitempty"`
	// Key is the key that it is about, "" if none.
	Key string `json:"key,omitempty"`
	// Since is when it began, zero if that is not known.
	Since time.Time `json:"since,omitzero"`
}
