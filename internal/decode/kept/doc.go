// Package kept keeps objects of the API as the bytes that a server sent, for caches whose users
// expect whole objects. An [Object] consists of these bytes, its key, version and labels. Each read
// decodes it.
//
// The objects that were decoded last are in a ring, one for the program, of about 8 MiB. Reads of
// these return the same object again. It must not be modified. A modification by mistake ends when
// the object leaves the ring.
package kept
