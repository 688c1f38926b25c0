// Package shard divides the objects of a cluster among the replicas of a program: each keeps,
// watches and reconciles a part of them, and none needs a leader.
//
//	group, err := shard.New(config, "kube-system", "my-controller")
//	...
//	share := shard.NewSource(group, func() source.Source[*corev1.Pod] {
//		return kube.FromREST[*corev1.Pod](config)
//	})
//	pods := typed.NewInformer(share)
//	pods.Handle(control.Enqueue[*corev1.Pod](q))
//	err = control.Run(ctx,
//		control.WithInformers(group, pods),
//		control.WithWorkers(q, 4, share.Reconcile(reconcile)))
//
// A hash of each object, see Hash, puts it into one of 256 ranges. Every member of the group
// has a Lease, which says which ranges it holds and which it wants. All members compute the
// same assignment from all Leases; there is no coordinator.
//
// # What is promised
//
//  1. No two members hold a range at a time, and keys of a range are handed out by the
//     member that holds it, while it has renewed its Lease in time.
//  2. A range moves when the next member has listed it, and the calls for its keys have
//     returned; their contexts end after the drain timeout. So no key is worked on by two
//     members, as long as functions return soon when their contexts have ended: within a third
//     of the lease duration, if the Lease could not be renewed.
//  3. The next member lists the objects of a range before it takes it, while its owner
//     continues. They are additions with the reason index.Acquired, and their keys wait. With
//     the old owner they are deletions with the reason index.Released, which are none: the
//     objects are still there.
//  4. When a member has died, its ranges have owners again after the lease duration and a
//     few seconds. No more ranges move than must, and shares differ by one at most.
//
// # Why that holds
//
// Requests for a Lease take effect one after the other, and so does a consistent list. A
// member takes a range in three steps: it writes into its Lease that it wants the range. It
// lists all Leases. Only if that list, which began after the write was answered, shows that no
// other member wants or holds the range, it writes that it holds it. Of two members that
// take one range, one was the second to write what it wants; its list shows the first one's
// want, or what became of it: that it holds the range, or that its Lease does not mention it
// any more. A member that finds another's want withdraws, if the assignment gives the range to
// the other one, or waits.
//
// A Lease that does not mention a range any more was written so by its owner, who had stopped
// by then; or it was deleted. Others delete a Lease when they have seen no change of it for
// the lease duration, by their own monotonic clock, and on the condition that it is still the
// version that they have seen. Its owner counts from the moment at which its last successful
// renewal began, which is before the others saw it, and counts 2/3 of that duration, so it
// has stopped by then. If it stood still meanwhile, it looks at its clocks whenever a key is
// handed out, and its next write fails, since the Lease is gone: it knows that it has lost
// all, and joins again. Clocks of two computers are never compared.
//
// A write whose answer is lost may take effect later. So a member that has missed an answer
// reads its Lease, and takes nothing before another write has succeeded: all writes are on
// the condition of the version that they change, so the lost one is refused from then on.
//
// # What is not promised
//
// A process that is stopped in the middle of a write, or whose write is held back by the
// network, can be late by any time; no client can know. [Source.Owns], asked right before a
// write, makes the gap small. What closes it is a condition that the server of the write
// checks: the resource version of the object, or [Source.Generation], which is higher
// for each later owner.
package shard
