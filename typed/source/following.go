package source

import (
	"time"

	"github.com/kubetyped/informer/index"
)

// Following is a Source that follows objects by their names, such as that of package reference.
type Following interface {
	// Followed returns what it follows. It may be called at any time, by several goroutines,
	// and does not wait for a server.
	Followed() Followed
}

// Followed counts the names that a source follows, by the state of their objects. It is zero
// for a source that follows none by name.
type Followed struct {
	// Held is how many names are held, Idle how many are followed for the rest of their idle
	// time, and Limit how many both may be; it is 0 for sources that are not Following.
	Held, Idle, Limit int
	// Pending is how many names have no answer yet, Present and Absent how many objects exist
	// and do not. Refused is how many the server refuses; if it had answered before, they
	// count as Present or Absent, too. Unheld is how many cannot be held.
	Pending, Present, Absent, Refused, Unheld int
	// Unfollowed reports the first 20 of those that are refused or unheld.
	Unfollowed []Unfollowed
	// LiveReads counts the reads that were requests, as the name could not be followed, of
	// callers that count them.
	LiveReads uint64
}

// Unfollowed is a name that cannot be followed.
type Unfollowed struct {
	Key   index.Key
	Err   error     // why
	Since time.Time // when that began
}

// followedBy returns what a source follows by name, zero if it is not Following.
func followedBy[T index.Object](src Source[T]) Followed {
	if following, ok := src.(Following); ok {
		return following.Followed()
	}
	return Followed{}
}

// Followed implements Following.
func (s *projectedSource[A, B]) Followed() Followed { return followedBy(s.source) }
