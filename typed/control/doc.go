// Package control has what a controller needs around its informers: handlers that put
// keys into a queue, predicates that keep from a handler what it does not have to see,
// expectations that make a controller read its own writes, and a runner that starts
// and stops all parts in the order in which they need each other.
//
// Handlers are made by [Enqueue], [EnqueueKey], [EnqueueFunc] and [EnqueueOwner], and put
// keys into whatever is an [Adder]. [Filter], by objects, and [FilterUpdates], by what has
// changed, go around any handler of package typed.
// With [Expectations] a key waits until the informers have seen what was written when
// it was processed. [Run] runs it all.
//
// Read enqueue.go first, then filter.go and filterupdates.go, expectations.go and run.go. None
// of it knows of a server or of a certain queue.
package control
