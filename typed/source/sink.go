package source

import "github.com/kubetyped/informer/index"

// Sink takes the reports of a Source. Objects that are reported are shared from then on
// and must not be modified. The methods may be called from several goroutines, if the
// source does not care in which order the reports take effect; they return quickly, unless
// a handler with the policy typed.Block has fallen behind.
//
// The version of a report is the resource version of the store after the report was applied,
// "" if it does not change.
//
// A Sink that passes reports to another one passes on everything in them: embed a Forwarder,
// and copy changes with ChangeFor.
type Sink[T index.Object] interface {
	// Change reports an object that is new or has a new state; the store decides which of the
	// two the event is. With Delete, it reports that the object is gone: Object is its last
	// state, or if that is not known or could not be used, Key names it. The event has the
	// reason of the change, index.Watched if that is 0; one such as index.OutOfScope reports
	// that the object may still exist, but is outside of what the source reports on from now
	// on. See index.Change for the UID.
	Change(c index.Change[T], version string)
	// Step reports changes that belong together, no two of them of one key unless the first
	// is a deletion: readers see all of them, or none. Without changes, it reports that
	// nothing else has changed up to the version, as a bookmark does. Done, unless it is nil,
	// is called when reads reflect the changes and all that was reported before, by another
	// goroutine, and must return soon; it is not called if the informer ends before. Without
	// all three, it reports that Versions of the source have moved. The sink owns the slice
	// from then on.
	Step(changes []index.Change[T], version string, done func())
	// Stage takes one object of an incomplete list, once, as soon as it arrives, so that it
	// is not kept in its received form. Its result belongs into the list for Replace, unless
	// the list turns out not to contain the object. The version is that of the object, for
	// errors.
	Stage(obj T, version string) Staged
	// Replace reports what a list says. The sink owns the slices in it from then on.
	Replace(l List, version string)
	// Progress reports how far a list that is in progress has come: how many objects have
	// arrived, and how many there will be, 0 if that is not known.
	Progress(received, expected int)
	// Report passes the state of the source: an error that it recovers from, such as a failed
	// list, or a *RejectedError for an object that it could not pass on. It passes nil
	// whenever a watch begins.
	//
	// An object that is rejected is reported by its key, and stays in the store in the
	// state that is there, if any, until the source reports on it again. So a deletion
	// whose last state is rejected takes two calls, Report and then Change with its Key;
	// and an object of a list that is rejected is reported, with RejectedError.Listed, and
	// is in the list that Replace is called with, as Reject: a list that is not completed
	// says nothing.
	Report(err error)
	// Decoding returns what a source that decodes objects may use, and what becomes of them.
	// It is asked for when the source begins, and when it opens another one.
	Decoding() Decoding[T]
}

// List is the result of a list: the objects everywhere, in a namespace, or in a part. Readers
// see all of it, or nothing.
type List struct {
	// Namespace is the one that was listed; "" is all of them.
	Namespace string
	// Part reports that the list is that of a part of the objects, such as those of one
	// cluster. Unlike a namespace, what the part is, only the source knows: what is gone is
	// what Gone names, and all else stays. The first list of a Source is not one of a part.
	Part bool
	// Items are the objects, which Stage has taken in, in any order, those that were
	// rejected included.
	Items []Staged
	// Gone are the objects of a part that are not there any more. One that was rejected is
	// not gone.
	Gone []index.Key
	// Reason is that of all events, 0 for the usual one: index.Initial in the first list,
	// which has no other, and index.Relisted later. A list without items and with
	// index.OutOfScope or index.Released reports that the namespace is outside of what the
	// source reports on from now on.
	Reason index.Reason
	// Released returns, for an object that is missing in a list of everything, whether the
	// source no longer covers it, instead of its deletion; nil if the source covers all
	// objects. Code that compares the first list with reports of an earlier run, as package
	// fleet does, then uses the reason index.Released. It is called before Replace returns,
	// if at all, and Reason is that of what such a list adds.
	Released func(key index.Key) bool
	// Done, unless it is nil, is called when reads reflect the list, before handlers are called
	// for its events, by another goroutine. It must return soon and not read the informer. It is
	// not called for a list of a part, nor by a sink that makes one list of several.
	Done func()
}

// Leaves reports whether the list says that all of a namespace, or everything, is outside
// of what the source reports on.
func (l *List) Leaves() bool {
	return !l.Part && len(l.Items) == 0 && (l.Reason == index.OutOfScope || l.Reason == index.Released)
}

// Decoding contains what a source may use to decode objects, and how the sink uses them.
type Decoding[T index.Object] struct {
	// Held returns the stored object of a key, so that its next state can be deduplicated
	// with it. It may be called by several goroutines at once, and does not keep the key. It
	// is nil if deduplication is off, because receivers modify objects.
	Held func(key index.Key) (T, bool)
	// Meter counts the traffic; nil if it is not counted.
	Meter *Meter
	// Modifies reports that receivers modify objects, as a transform may. A source whose
	// objects other code still reads then passes on copies.
	Modifies bool
	// Needs are the fields, named as in JSON, that who gets objects is known to read now. A
	// source that opens others as it runs returns an error if one of these leaves one out,
	// see Opened.
	Needs []string
	// Versioned is the reason why each change has to have a version, "" if it need not. One
	// that brings an own write before the watch has none, see kube.WithWrites.
	Versioned string
}

// Forwarder is a Sink that passes everything on to another one. Embed it in a Sink that
// does something else with some reports, and declare the methods for these. A pointer to it
// is a Sink.
type Forwarder[T index.Object] struct {
	To Sink[T]
}

// Change implements Sink.
func (f *Forwarder[T]) Change(c index.Change[T], version string) { f.To.Change(c, version) }

// Step implements Sink.
func (f *Forwarder[T]) Step(changes []index.Change[T], version string, done func()) {
	f.To.Step(changes, version, done)
}

// Stage implements Sink.
func (f *Forwarder[T]) Stage(obj T, version string) Staged { return f.To.Stage(obj, version) }

// Replace implements Sink.
func (f *Forwarder[T]) Replace(l List, version string) { f.To.Replace(l, version) }

// Progress implements Sink.
func (f *Forwarder[T]) Progress(received, expected int) { f.To.Progress(received, expected) }

// Report implements Sink.
func (f *Forwarder[T]) Report(err error) { f.To.Report(err) }

// Decoding implements Sink.
func (f *Forwarder[T]) Decoding() Decoding[T] { return f.To.Decoding() }

// ChangeFor returns the change c with another object, possibly of another type: all else is
// the same. A change that names its object by Key has none.
func ChangeFor[A, B index.Object](c index.Change[A], obj B) index.Change[B] {
	return index.Change[B]{Delete: c.Delete, Reason: c.Reason, Object: obj, Key: c.Key, UID: c.UID}
}
