// Package faults breaks what is between an informer and a real API server, and
// the server itself, in every way that happens to clusters, while objects are
// written all the time. Each of its tests ends with the same verdict:
//
//  1. the informer's objects are the server's, one by one, at the same version,
//  2. the events that its handlers and event streams have seen play back to the
//     same objects, each following from the one before,
//  3. no write is missing among the events, except those that a relist stood in
//     for.
//
// The verdicts stand as a table in docs/explanation/reliability.md, which
//
//	go test ./faults -report ../../docs/explanation/reliability.md
//
// writes.
package faults
