// Package adapters lets programs that are written for client-go use this
// project's informers, and the other way round, one informer at a time.
//
// Under existing code. [NewSharedIndexInformer] has the signature and the
// behaviour of client-go's function of that name, quirks included; what it makes
// stands on typed.Informer. The packages informers, dynamicinformer and
// metadatainformer in this folder have the names of client-go's packages of
// informer factories, so that a program changes over with its imports. [Serve] is
// for one type of a factory that was generated for another API, and
// [NewClientInformer] for one informer on a generated client.
//
// [SharedIndexInformer] hands a typed informer to code that wants one of
// client-go's.
//
// On top of existing informers. [FromShared] is a source of typed informers that
// takes its objects from an informer that runs already, without a second list
// and watch.
//
// Piece by piece. Handlers, index functions, stores, transforms, queues and sync state convert
// both ways.
//
// This package, with those below it, is the only one of the project whose API is untyped:
// object keys are strings here, as client-go's are, "namespace/name" or "name".
package adapters
