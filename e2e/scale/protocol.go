package main

import "time"

// The process that measures a side reads requests from its standard input and
// writes one answer to each to its standard output, as lines of JSON. The
// requests come in this order, each once; the process ends after the last, or
// when its input does.
const (
	requestSync   = "sync"   // make the informers; answered when they have synced
	requestFollow = "follow" // count from now on; answered at once
	requestUntil  = "until"  // answered when the handler of Pods has come to a version
)

type request struct {
	Do string `json:"do"`

	// With requestSync.
	Kubeconfig []byte `json:"kubeconfig,omitempty"`
	Selector   string `json:"selector,omitempty"` // by label, of the objects
	Profiles   string `json:"profiles,omitempty"` // folder, or none

	// With requestUntil.
	Version string `json:"version,omitempty"` // of the Pod that was updated last
}

type answer struct {
	Err    string  `json:"err,omitempty"`
	Synced *synced `json:"synced,omitempty"`
	Events *events `json:"events,omitempty"`
}

// synced describes informers that have synced: their handlers have returned from the last of the
// initial objects.
type synced struct {
	usage
	Objects map[string]int `json:"objects"` // that handlers have seen, by kind
	Heap    int64          `json:"heap"`    // bytes alive, after a collection
}

// events describes the events that the handlers have seen.
type events struct {
	usage
	Updates int `json:"updates"` // of Pods
	Others  int `json:"others"`  // of all kinds
}

// usage is what it took: to sync, since before there was a client; or to see the events, since they
// were to be followed, until the last.
type usage struct {
	Took time.Duration `json:"took"`
	CPU  time.Duration `json:"cpu"`  // of the process, meanwhile
	Peak int64         `json:"peak"` // bytes of resident memory, since the process began
}
