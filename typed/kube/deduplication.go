package kube

import "github.com/kubetyped/informer/internal/decode/wire"

// WithoutDeduplication gives every object all of its parts for itself, except for strings, which
// no program can modify: objects share those that came recently.
//
// By default, identical parts of objects, such as the containers of Pods of one application,
// or the unchanged fields of an update, are decoded and stored once in the program. A program
// that modifies an object of an informer, which is forbidden, then also modifies others, while
// decoders read them; a write to a map can crash the program. Deduplication is off with a
// transform function, with source.Map and source.FilterMap, because their functions may modify
// objects, and for objects that client-go decodes.
func WithoutDeduplication() SourceOption {
	return func(c *sourceConfig) error {
		c.rest.withoutDeduplication = true
		return nil
	}
}

// DeduplicationStatus describes the program's deduplication table, which all informers use.
type DeduplicationStatus struct {
	// Parts is how many parts it refers to, some of which may be gone: it keeps none of
	// them alive. Bytes is its own size.
	Parts, Bytes int
	// Looked is how many parts were looked for, and Found how many of these were there,
	// since the program began. Most parts are found without the table, in the last
	// state of their object or in one whose name begins alike, and so in neither.
	Looked, Found uint64
}

// Deduplication describes the deduplication table for objects in protobuf, of all sources of the
// program, see [WithoutDeduplication]. Sources with WithFields or WithoutFields, and those of
// unstructured objects, have their own tables, which are not included; other JSON is deduplicated
// without a table. It may be called at any time, and costs some microseconds.
func Deduplication() DeduplicationStatus {
	return DeduplicationStatus(wire.SharedParts())
}
