package source

import (
	"time"

	"github.com/kubetyped/informer/index"
)

// Derived is a Source whose objects are those of others or of informers, or are made of them,
// such as a Map, a fleet or a view; or it is an informer. Package view follows it to find two
// ways that lead from one informer to another, see view.Of. So a custom
// Source that wraps another one should implement it.
type Derived interface {
	// DerivedFrom returns what the objects come from now, as far as that is Derived, too.
	// It may be called at any time, by several goroutines.
	DerivedFrom() []Derived
}

// DerivedOf returns a source as what another one is derived from, nil if it is not Derived.
func DerivedOf[T index.Object](src Source[T]) []Derived {
	if derived, ok := src.(Derived); ok {
		return []Derived{derived}
	}
	return nil
}

// Named is a Source that may follow one object alone, by its name, as those of package kube
// with kube.WithName. Package reference asks it, so as not to follow more than one.
type Named interface {
	// Named returns the key of the object. The error says why the source cannot be used, as
	// far as that is known without a server, or that it is one of other objects as well.
	Named() (index.Key, error)
}

// Partial is a Source whose objects do not have all fields, such as one of package kube with
// kube.WithFields. Map and FilterMap from a type to itself are Partial if their source is.
// FromNamespaces and fleets are Partial if a source that they run is; before they run, they have no
// sources. A source that omits a field that the informer needs, see Decoding, ends with an error.
type Partial[T index.Object] interface {
	Source[T]
	// Omits reports whether a field, named as in JSON ("metadata.labels"), is left out of
	// the objects. It may be called at any time, by several goroutines.
	Omits(field string) bool
}

// Omits reports whether a source is known to leave a field out.
func Omits[T index.Object](src Source[T], field string) bool {
	partial, ok := src.(Partial[T])
	return ok && partial.Omits(field)
}

// Sharder is a Source whose server can be asked for a part of the objects, those whose hash
// is in given ranges. Those of package kube are. See package shard, which shares objects
// among processes.
type Sharder[T index.Object] interface {
	Source[T]
	// InShards returns another source, which asks the server for what the selector
	// selects, see metav1.ListOptions.ShardSelector, and lists its latest state. A server
	// that does not know such selectors ignores them, and sends all objects.
	InShards(selector string) Source[T]
}

// Versions is a Source with several watches, each of which comes to versions by itself, such
// as one of a set of namespaces, a part of a group of package shard, or a fleet. The version
// that its reports come with is the lowest of all; this returns the version of one object, for
// a wait for its write. When it has moved without another report, the source calls Step
// without changes, version and done.
type Versions interface {
	// At returns the version up to which all has been reported that happened to the object
	// of a key, "" if it is not known. It takes no lock that is held while something is
	// reported, and is safe for concurrent use. It may go back.
	At(key index.Key) string
}

// VersionAt returns the version that the source has reached for an object, "" if the source
// does not distinguish objects.
func VersionAt[T index.Object](src Source[T], key index.Key) string {
	if versions, ok := src.(Versions); ok {
		return versions.At(key)
	}
	return ""
}

// Leading is a Source that reports own writes before its watch does, such as one of package
// kube with kube.WithWrites.
type Leading interface {
	// Ahead returns how many objects were reported in a state that the watch has not come to,
	// and the highest of their versions. It may be called at any time, by several goroutines,
	// and does not wait.
	Ahead() (keys int, highest uint64)
}

// AheadOf returns how far a source is ahead of its watch, zeros if it is not Leading.
func AheadOf[T index.Object](src Source[T]) (keys int, highest uint64) {
	if leading, ok := src.(Leading); ok {
		return leading.Ahead()
	}
	return 0, 0
}

// Ahead implements Leading.
func (s *projectedSource[A, B]) Ahead() (keys int, highest uint64) { return AheadOf(s.source) }

// Ahead implements Leading.
func (o *Opened[T]) Ahead() (keys int, highest uint64) {
	for _, src := range o.now() {
		n, version := AheadOf(*src)
		keys, highest = keys+n, max(highest, version)
	}
	return keys, highest
}

// Ahead implements Leading.
func (s *namespacesSource[T]) Ahead() (keys int, highest uint64) { return s.opened.Ahead() }

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

// Followed implements Following.
func (s *projectedSource[A, B]) Followed() Followed {
	if following, ok := s.source.(Following); ok {
		return following.Followed()
	}
	return Followed{}
}
