// Package eventlog hands one sequence of events to many readers, each at its
// own pace.
//
// A [Log] holds every event once, however many readers there are. A [Cursor]
// reads all of them; a [Coalescer] keeps, for a reader that falls behind, one
// event for each key. Events that every reader has read are freed.
//
// The type parameter is the type of the objects, not of the events: pointers share the
// compiled code, structs that contain them do not.
package eventlog
