package reference

import (
	"time"

	"github.com/kubetyped/informer/index"
)

// Phase is what is known of a key.
type Phase uint8

const (
	// Pending: the key is followed, and there is no answer yet. It says nothing about whether
	// the object exists.
	Pending Phase = iota + 1
	// Present: the object exists, and reads of the informer return it.
	Present
	// Absent: the server has said, by a list or a deletion, that there is no such object.
	Absent
	// Refused: the server refuses the request, for lack of rights for example, or what it has
	// sent cannot be used. It says nothing about whether the object exists.
	Refused
)

// String returns the name of the phase.
func (p Phase) String() string {
	if int(p) < len(phases) {
		return phases[p]
	}
	return phases[0]
}

var phases = [...]string{"Unfollowed", Pending: "Pending", Present: "Present", Absent: "Absent", Refused: "Refused"}

// State is what is known of a key at a moment. The zero State is that of a key that is not
// followed.
type State struct {
	Phase Phase
	// Version is the resource version of the report that brought the phase or the object: of
	// the list, or of the event. An absent key is absent since then.
	Version string
	// Err is why the key is refused. If it is Present or Absent, that is the last state known,
	// and Err is why it is not followed any further; nil if it is followed.
	Err error
	// Since is when Err began.
	Since time.Time
}

// known reports whether there is an answer.
func (s State) known() bool { return s.Phase > Pending }

// Status is what a Source follows.
type Status struct {
	// Held is how many keys have owners, and Idle how many are followed for the rest of
	// the idle time. Limit is how many both may be together.
	Held, Idle, Limit int
	// Present is how many keys are.
	Present int
	// Pending and Absent are the keys that are, sorted.
	Pending, Absent []index.Key
	// Refused are the keys that the server refuses, sorted, including those of which it has
	// refused only the watch: the last state of them stays.
	Refused []Refusal
	// Unheld are the keys that From could not hold.
	Unheld []Refusal
	// LiveReads counts the calls of CountLiveRead.
	LiveReads uint64
}

// Refusal is a key that cannot be followed.
type Refusal struct {
	Key index.Key
	// Err is why.
	Err error
	// Since is when that began.
	Since time.Time
}
