// Package snapshot contains the types of the JSON that package inspect serves: what the
// informers, queues and other parts of a program were like at one moment. It imports nothing
// of this module, so that a program which reads the JSON of another one can decode it with
// these types and link nothing else.
//
// Names and meanings of fields stay as they are; fields may be added. Times are in RFC 3339,
// left out if there is none; names that end in Seconds are durations in seconds, names that
// end in Bytes are bytes. Lists that are empty are [], never null.
package snapshot
