// Package kept has objects of the API that are kept as the bytes that a server sent, for caches
// whose users expect whole objects: an [Object] has its key, version and labels beside, and is
// decoded each time that somebody looks at it.
//
// The objects that were decoded last are in a ring, one for the program, of about 8 MiB. Who
// asks for an object that is in it gets the same one again, which nobody may modify; what
// somebody modifies all the same is undone when the object leaves the ring.
package kept
