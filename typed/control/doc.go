// Package control contains the parts of a controller around its informers: handlers that add
// keys to a queue, predicates that filter events, expectations that make a controller read its
// own writes, and a runner that starts and stops all parts in the right order.
//
// Handlers are made by [Enqueue], [EnqueueKey], [EnqueueFunc] and [EnqueueOwner], and add keys
// to an [Adder]. [Filter] (by object) and [FilterUpdates] (by change) wrap any handler of
// package typed. With [Expectations] a key waits until the informers have seen the writes of
// its last processing. [Run] runs it all.
//
// Read enqueue.go first, then filter.go and filterupdates.go, expectations.go and run.go. None
// of it knows of a server or of a certain queue.
package control
