// Package packed keeps objects as the bytes that a server sent, in less memory than those
// take: as what they do not have in common with a sibling's.
//
// The bytes of an object are a [Record]: a delta of a base. The base is the first object of
// the namespace whose name begins alike, as the names of all Pods of a ReplicaSet do. A base
// is itself a delta, of the root, which is the first object of its Store. There are never more
// steps than these two, and each state of an object is encoded from its bytes, so that reading a record
// costs the same after any number of updates.
//
// A base serves if it is at most twice as long as the object, and the delta at most half as
// long (or 16 bytes). Else the object is kept whole, and is the next base. A base lives as long as a record
// refers to it. So an object takes at most 2.5 times its bytes and 200 more with its record, whatever
// is in them; and the root, at most [MostShared] bytes, lives as long as its Store.
package packed
