package report

import (
	"time"

	"github.com/kubetyped/informer/typed/source"
)

// Phase is the stage of an informer's life.
type Phase uint8

const (
	// PhaseNew: Run was not called yet.
	PhaseNew Phase = iota
	// PhaseSyncing: the first list has not arrived.
	PhaseSyncing
	// PhaseSynced: the store holds the initial list and later changes.
	PhaseSynced
	// PhaseStopped: Run has ended.
	PhaseStopped
)

// String returns the name of the phase.
func (p Phase) String() string {
	switch p {
	case PhaseNew:
		return "New"
	case PhaseSyncing:
		return "Syncing"
	case PhaseSynced:
		return "Synced"
	case PhaseStopped:
		return "Stopped"
	default:
		return "Unknown"
	}
}

// Status is a report on an informer at one moment.
type Status struct {
	// Name is the informer's name, and Origin where its objects come from, as far as its
	// source knows.
	Name   string
	Origin source.Origin
	// Phase is the stage that it is in.
	Phase Phase
	// Objects is the number of objects in the store.
	Objects int
	// ResourceVersion is the version that the store has reached.
	ResourceVersion string
	// Ahead is what it has beyond that, as own writes were answered, see kube.WithWrites.
	Ahead Ahead
	// Followed is what the source follows by name, zero if it follows none, see package
	// reference.
	Followed source.Followed
	// Received is how many objects the latest list has brought so far, and
	// Expected how many it will bring, 0 if the server has not said.
	Received, Expected int
	// Events counts the changes of the store, LastEvent is when the last one was
	// applied, zero if there was none.
	Events    int
	LastEvent time.Time
	// LastContact is the time of the source's last report: a change, a bookmark, or success.
	// It is zero before the first. Servers send bookmarks about once a minute. It bounds the
	// age of reads; LastEvent does not.
	LastContact time.Time
	// Relists counts the lists after the first one. Watches counts how often the source
	// has said that it works, which it does whenever it has begun to watch, and
	// WatchSince is when it last did, zero if it has failed since. One of several
	// namespaces says so when all of them work; sources that do not watch themselves say
	// nothing.
	Relists, Watches int
	WatchSince       time.Time

	// Err is the last failure to list or watch, nil if there was none since it
	// last worked; or else why the first list does not count, if all of its objects
	// were rejected, see source.RejectedError. Failures counts those, and Since is when the first of them
	// was.
	Err      error
	Failures int
	Since    time.Time
	// Failed counts all failures to list or watch since Run was called. FailedLists and
	// FailedWatches are those of them that sources distinguish, see source.RequestError.
	Failed, FailedLists, FailedWatches uint64
	// LastErr is the last failure to list or watch, even if it has worked since.
	LastErr error
	// NotStreamed counts the streamed lists (WatchList) that were given up, as the server
	// did not end them, after which the objects were listed, and NotStreamedErr is why the
	// last one was. See source.ErrNotStreamed.
	NotStreamed    int
	NotStreamedErr error

	// Rejected counts what was received and could not be used, since Run was called, and
	// LastRejected reports the last one. RejectedNow is the number of objects of which the
	// store has no state, or an earlier one, for that reason, and RejectedObjects reports the
	// last 20 of them, the latest first. See source.RejectedError.
	Rejected        int
	LastRejected    *source.RejectedError
	RejectedNow     int
	RejectedObjects []*source.RejectedError

	// Queued is how many changes wait to be applied, QueuedMax the most that
	// ever did.
	Queued, QueuedMax int

	// Traffic is what the source has received, zero if that is not known, as with
	// kube.FromListerWatcher, where other code reads the responses.
	Traffic source.Traffic
	// Budget is what observe.WithBudget allows, and how much of it is used, zero without that.
	Budget Budget
	// FactoryBudget is what observe.WithTotalBudget allows all informers of the factory
	// together, and how much of it they use, zero without that.
	FactoryBudget Budget

	// Created is the line that has made the informer, or asked a factory for it first.
	// Holders has the line of each use of a factory's informer that was not released.
	Created CallSite
	Holders []CallSite

	// Handlers contains every registered handler.
	Handlers []Handler
}

// Ahead is how far a store is ahead of its watch: by Keys objects, those that are gone among
// them, up to the ResourceVersion, "" if it is not.
type Ahead struct {
	Keys            int
	ResourceVersion string
}

// Handler is a report on a handler.
type Handler struct {
	// Name is the handler's name.
	Name string
	// Number is the handler's place in the order in which the informer's handlers were added,
	// those that were removed included, from 1. It distinguishes handlers of the same name.
	Number int
	// Delivery is its policy, as it is written in Go.
	Delivery string
	// Synced reports whether it has returned from the last initial object.
	Synced bool
	// Backlog is how many events it has not returned from.
	Backlog int

	// Panics counts its panics, LastPanic is what it has panicked with last, in words, up
	// to 1,000 bytes of them, and LastPanicAt when.
	Panics      int
	LastPanic   string
	LastPanicAt time.Time

	// Times is a histogram of its calls, Recent has those of the last minute, and Slowest is
	// the one that has taken longest; they are nil if calls are not timed, see
	// observe.WithCallTimes, and Slowest if there was none. Current is the call that it is in,
	// nil if there is none, or calls are not timed.
	Times            *CallTimes
	Recent           *RecentCalls
	Slowest, Current *Call
	// Stuck reports that it has been in one call for too long: for the time after which
	// observe.WithSlowHandlers logs a stack, or five minutes without that. If calls are not timed,
	// that is known only after as long a time of reports which show no progress.
	Stuck bool
}

// Budget is the limit of objects and bytes of an informer, or of all informers of a
// factory, and its use.
type Budget struct {
	// Objects and Bytes are the limits, 0 for none.
	Objects, Bytes int64
	// Kept is how many objects there are.
	Kept int64
	// HeapBytes is what the objects weigh by the last estimate, 0 if there was none.
	HeapBytes int64
	// Used is the part of the nearer limit that is used, 1 for all of it.
	Used float64
	// Since is when Used came to 0.8 or more, zero if it is less.
	Since time.Time
}

// Heap is an estimate of the memory that an informer's objects take, without its store and
// its indexes.
type Heap struct {
	// Objects is how many objects there are, and Sampled how many of them were measured.
	Objects, Sampled int
	// Bytes is the memory of all, if the others are like those that were measured. What
	// several objects refer to is counted once among those that were measured, so that parts
	// that many share are counted too often rather than too rarely.
	Bytes int64
	// Packed is the state of the objects that are kept as bytes.
	Packed Packed
}

// Packed is the state of the objects of an informer that are kept as bytes, see kube.Packed. It is
// a count of all, not an estimate.
type Packed struct {
	// Objects is how many there are, 0 if the informer keeps none as bytes.
	Objects int
	// Bytes is what they take with their bases, of which there are Bases, and Raw the size in which
	// the server sent them.
	Bytes, Raw int64
	Bases      int
	// Decoded counts the objects that were decoded from these bytes, on arrival not included, and
	// Decoding is how long that took, on all goroutines together.
	Decoded  uint64
	Decoding time.Duration
}

// Writes counts the answers to own writes, see kube.Writes. An answer that
// several informers get counts for each.
type Writes struct {
	// Server is the host of the API server, with its path if there is one, "" before the
	// first configuration.
	Server string
	// Taken counts answers that a store has got before the watch.
	Taken uint64
	// Ignored counts those that the watch, or a later answer, was ahead of, and those that came
	// before the first list.
	Ignored uint64
	// Late counts the writes that have returned before reads had them, as a second was over.
	Late uint64
	// LeftOut counts the others by reason, such as "dry run" or "selector".
	LeftOut map[string]uint64
}
