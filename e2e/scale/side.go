package main

import (
	"context"
	"slices"

	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/client-go/kubernetes"
)

// The sides that are compared.
const (
	sideTyped    = "typed"
	sideFields   = "fields"   // the same, with six fields of Pods
	sideImport   = "import"   // what client-go's side is with one import changed
	sideAdapters = "adapters" // the same, with deduplication
	sideClientGo = "client-go"
)

// informers are those of one side, one for each kind, of the objects that a
// selector matches. Their handlers count.
type informers interface {
	// run runs them until ctx ends, and returns when nothing of them is left.
	run(ctx context.Context) error
	// waitForSync waits until every handler has returned from the last of the
	// initial objects. It returns an error if ctx ends before.
	waitForSync(ctx context.Context) error
}

// sides makes informers that were not started yet.
var sides = map[string]func(kubernetes.Interface, labels.Selector, tallies) (informers, error){
	sideTyped:    newTyped,
	sideFields:   newFields,
	sideImport:   newImport,
	sideAdapters: newAdapters,
	sideClientGo: newClientGo,
}

// words are what the sides are called where there is no room to explain.
var words = map[string]string{
	sideClientGo: "client-go",
	sideImport:   "one import changed",
	sideAdapters: "with deduplication",
	sideTyped:    "typed",
	sideFields:   "typed, six fields",
}

// allOurs are the sides that are compared with client-go's, in the order of tables.
var allOurs = []string{sideImport, sideAdapters, sideTyped, sideFields}

// turns returns the order in which they are measured. This project's sides come first, and pay
// for that.
func (p plan) turns() []string { return append(slices.Clone(p.ours), sideClientGo) }

// tallies holds the tally of each kind.
type tallies map[string]*tally

func newTallies() tallies {
	t := tallies{pods: {}}
	for _, kind := range otherKinds {
		t[kind] = &tally{}
	}
	return t
}
