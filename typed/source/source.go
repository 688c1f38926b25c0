package source

import (
	"context"

	"github.com/kubetyped/informer/index"
)

// Source is where an informer's objects come from: a list and watch of an API
// server, another informer, or the events of a test.
type Source[T index.Object] interface {
	// Run reports every change to sink until ctx ends, and then returns nil. The
	// first report is a Replace of all namespaces; that is when the informer counts
	// as synced.
	//
	// What can be retried is retried by the source, and reported to the sink. An
	// error that Run returns is final, and ends the informer. A source that has
	// nothing more to say may return nil before ctx ends; the informer then goes
	// on with what it has.
	//
	// Run waits for the goroutines that it has started. It is called once.
	Run(ctx context.Context, sink Sink[T]) error
}

// Sink takes the reports of a Source. Objects that are reported are shared
// from then on and must not be modified. The methods may be called from
// several goroutines, if the source does not care in which order the reports
// take effect; they return quickly, unless a handler with the policy typed.Block has
// fallen behind.
//
// The resource version that comes with a report is the one that the store has
// reached when the report was applied, "" if the report does not tell.
type Sink[T index.Object] interface {
	// Put reports that obj is there: that it came into being, or changed. Which of the
	// two the event tells is decided by what the store has.
	Put(obj T, resourceVersion string)
	// Delete reports that obj, which is its last known state, was deleted.
	Delete(obj T, resourceVersion string)
	// Remove reports that the object of key, if there is one, is gone, without a last
	// state: the event has that of the store, and the given reason. It is index.Watched
	// if the object was deleted, and its last state is not known or could not be used.
	// It is another one, such as index.OutOfScope, if the object is outside of what the
	// source reports on from now on, though it may still exist.
	Remove(key index.Key, reason index.Reason, resourceVersion string)
	// Replace reports that objs are all that there are in a namespace, or everywhere if
	// that is metav1.NamespaceAll, which is "". The sink owns the slice from then on.
	Replace(namespace string, objs []T, resourceVersion string)
	// Stage takes in one object of a list that is not complete yet, once, as soon as
	// it has come, so that nobody has to keep it as it was received. What it returns
	// belongs into the list that ReplaceStaged is called with, unless the list turns out
	// not to have the object. The version is that of the object, for errors.
	Stage(obj T, resourceVersion string) Staged
	// ReplaceStaged is Replace with objects that Stage has taken in, in the same or
	// another order. The sink owns the slice from then on.
	ReplaceStaged(namespace string, list []Staged, resourceVersion string)
	// RemoveNamespace reports that all objects of a namespace are outside of what the
	// source reports on from now on. They are deleted with the reason
	// index.OutOfScope.
	RemoveNamespace(namespace, resourceVersion string)
	// ReplacePart reports that list, whose objects Stage has taken in, is all that there
	// is of a part of the objects, such as those of one cluster, and that the objects
	// gone, which were in it, are not there any more. Unlike a namespace, what the part
	// is, only the source knows. Additions and deletions have the given reason:
	// index.Relisted, or index.Acquired and index.Released for a part that comes or
	// goes. Who reads sees all of it, or nothing. An object that was rejected is in
	// neither. The sink owns the slices from then on. The first report of a Source is
	// not of a part.
	ReplacePart(list []Staged, gone []index.Key, reason index.Reason, resourceVersion string)
	// Bookmark reports that nothing else changed up to resourceVersion.
	Bookmark(resourceVersion string)
	// Progress tells how far a list that is under way has come: how many objects
	// have arrived, and how many there will be, 0 if that is not known.
	Progress(received, expected int)
	// Report tells how the source fares: an error that it goes on after, such
	// as a failed list; a *RejectedError for an object that it could not pass
	// on; or nil when it works: whenever it has begun to watch.
	//
	// An object that is rejected is reported by its key, and stays in the store in
	// the state that is there, if any, until the source reports on it again. So a
	// deletion whose last state is rejected takes two calls, Report and then Remove;
	// and the objects of a list that are rejected are reported, with
	// RejectedError.Listed, before the Replace that leaves them out.
	Report(err error)
}
