// Package store keeps API objects by resource, with their history, as etcd
// keeps keys: one counter numbers every write of every resource, old versions
// stay readable until they are compacted, and a watch is a cursor into the
// history of its resource.
//
// Objects given to the store belong to it and are never modified again; objects
// it hands out are shared and must not be modified. Nothing of the caller runs
// while a lock is held. All types are safe for concurrent use.
package store
