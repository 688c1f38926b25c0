package kube

import "github.com/kubetyped/informer/internal/decode/wire"

// PartsStatus is a report on the table by which parts of objects are found that are
// equal. It is one for all informers of the program, so no informer has one of its own.
type PartsStatus struct {
	// Parts is how many parts it refers to, some of which may be gone: it keeps none of
	// them alive. Bytes is its own size.
	Parts, Bytes int
	// Looked is how many parts were looked for, and Found how many of these were there,
	// since the program began. Most parts are found without the table, in the last
	// state of their object or in one whose name begins alike, and so in neither.
	Looked, Found uint64
}

// SharedParts returns a report on the table of parts of objects that come in protobuf,
// of all sources of the program that share parts, see [WithoutSharing]. Sources with
// WithFields or WithoutFields have tables for themselves, which are not in it, and parts
// of what comes as JSON are found without one. It may be called at any time, and costs
// some microseconds.
func SharedParts() PartsStatus {
	u := wire.SharedParts()
	return PartsStatus{Parts: u.Parts, Bytes: u.Bytes, Looked: u.Looked, Found: u.Found}
}
