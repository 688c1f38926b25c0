package simulation

import (
	"fmt"
	"slices"
)

// Kind is a kind of fault.
type Kind int

// The kinds of faults. Each happens to one process, except for those of a server.
const (
	// Crash ends a process, and starts it again some time later.
	Crash Kind = iota
	// CrashBeforeWrite ends it when it is about to write: the write does not arrive.
	CrashBeforeWrite
	// CrashAfterWrite ends it when a write has taken effect, before it knows.
	CrashAfterWrite
	// LostAnswer resets the connection of writes that have taken effect.
	LostAnswer
	// Refused answers requests with 429 and Retry-After, 500, 503 or 504.
	Refused
	// Conflicts answers updates, patches and deletions with 409.
	Conflicts
	// LateWrite delays a write by minutes: its process may have restarted, or no longer be
	// the leader.
	LateWrite
	// Cut ends open watches: cleanly, by a reset, or in the middle of an event.
	Cut
	// Expired ends open watches with the error that their version is too old.
	Expired
	// Freeze stops what travels between a process and its server, to both sides or to one.
	Freeze
	// Slow makes what travels take up to a thousand times as long, a minute at most. Of several at
	// a time, the largest counts.
	Slow
	// Moved connects a process with another server; open watches are cut.
	Moved
	// Held makes a server send no events to the watches of a process.
	Held
	// Lag stops the watch cache of a server: reads from it return the past.
	Lag
	// Compacted forgets the history of all servers.
	Compacted
	// Travel is all at once that leads into the past: a server lags, and a process that has
	// seen what is not there yet starts again with it.
	Travel
	kinds
)

var kindNames = [kinds]string{
	"Crash", "CrashBeforeWrite", "CrashAfterWrite", "LostAnswer", "Refused", "Conflicts", "LateWrite", "Cut",
	"Expired", "Freeze", "Slow", "Moved", "Held", "Lag", "Compacted", "Travel",
}

// String returns the name of the constant.
func (k Kind) String() string {
	if k < 0 || k >= kinds {
		return fmt.Sprintf("Kind(%d)", int(k))
	}
	return kindNames[k]
}

// Kinds returns all kinds of faults.
func Kinds() []Kind {
	all := make([]Kind, kinds)
	for k := range kinds {
		all[k] = k
	}
	return all
}

// AllBut returns all kinds of faults but some.
func AllBut(some ...Kind) []Kind {
	return slices.DeleteFunc(Kinds(), func(k Kind) bool { return slices.Contains(some, k) })
}
