package snapshot

import "time"

// Report is the state of a program's parts at one moment.
type Report struct {
	// Title is what the program is called.
	Title string `json:"title"`
	// Time is when the report was made.
	Time time.Time `json:"time"`
	// Problems is what is wrong, the worst first.
	Problems []Problem `json:"problems"`
	// Totals contains sums over all parts.
	Totals Totals `json:"totals"`
	// Informers are ordered by cost: heap, then backlog and time in calls.
	Informers []Informer `json:"informers"`
	// Queues, Expectations, Groups, Fleets and Writes are in the order in which they were given.
	Queues       []Queue        `json:"queues"`
	Expectations []Expectations `json:"expectations"`
	Groups       []Group        `json:"groups"`
	Fleets       []Fleet        `json:"fleets"`
	Writes       []Writes       `json:"writes"`
	// Controllers are in the order in which WithControllers returns them.
	Controllers []Controller `json:"controllers"`
	// Deduplication is the state of deduplication, nil without WithDeduplication.
	Deduplication *Deduplication `json:"deduplication,omitempty"`
}

// Totals contains sums over the parts of a Report.
type Totals struct {
	// Informers is how many there are, Synced how many of them are synced, and Failing how
	// many fail to list or watch now.
	Informers int `json:"informers"`
	Synced    int `json:"synced"`
	Failing   int `json:"failing"`
	// Objects is how many there are in all stores.
	Objects int `json:"objects"`
	// HeapBytes is the sum of the estimates of what objects take, ReceivedBytes what was
	// received for them.
	HeapBytes     int64  `json:"heapBytes"`
	ReceivedBytes uint64 `json:"receivedBytes"`
	// Backlog is how many events handlers have not returned from.
	Backlog int `json:"backlog"`
	// Waiting, InWork and FailingKeys are sums over the queues.
	Waiting     int `json:"waiting"`
	InWork      int `json:"inWork"`
	FailingKeys int `json:"failingKeys"`
}

// Deduplication is a report on the table of parts that objects share, one for the program.
type Deduplication struct {
	// Parts is how many parts the table refers to, Bytes its own size.
	Parts int `json:"parts"`
	Bytes int `json:"bytes"`
	// Looked is how many parts were looked for, Found how many of them were there.
	Looked uint64 `json:"looked"`
	Found  uint64 `json:"found"`
}

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
	// Reason names the problem in one word, for programs: NotStarted, NotSynced, Forbidden,
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
