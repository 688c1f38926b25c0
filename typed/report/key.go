package report

import (
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/kubetyped/informer/index"
)

// Key is what an informer knows of one key.
type Key struct {
	// Found reports whether the store has an object of the key, UID and ResourceVersion are
	// its own, as far as it has such.
	Found           bool
	UID             types.UID
	ResourceVersion string
	// Indexes contains the name of each index with the object, and its keys there, in words.
	Indexes map[string][]string
	// Rejected is why an object of the key, or a later state of it, could not be used, nil
	// if there is none.
	Rejected error
	// Events are the last events of the key, the latest first, if the informer keeps them,
	// see observe.WithHistory.
	Events []Event
}

// Event is an event that an informer delivered to its handlers.
type Event struct {
	Key    index.Key
	Type   index.EventType
	Reason index.Reason
	// ResourceVersion is that of the object, "" if it has none.
	ResourceVersion string
	// At is when the store was changed, as exactly as the batch of changes that it was
	// among.
	At time.Time
}
