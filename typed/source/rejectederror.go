package source

import (
	"errors"
	"fmt"

	"github.com/kubetyped/informer/index"
)

// ErrNilObject is what RejectedError wraps for an object that is nil.
var ErrNilObject = errors.New("object is nil")

// RejectedError is an object that was received but not stored: it could not be decoded, has no
// name, is not of the informer's type, or a transform, a projection or an index function has
// failed on it. The informer logs it, counts it (report.Status.Rejected) and continues:
//
//  1. The store keeps the state of the object that it has, if any: reads of that key, and of
//     no other, are behind the informer's resource version. This is never silent:
//     typed.Informer.Rejected and Status report it, until the object is received in a state
//     that can be used, is deleted, or is no longer there in a later list.
//  2. That an object is rejected never looks like its deletion, also in a list. A
//     deletion is one, even if its last state is rejected.
//  3. An informer whose first list has objects, all of which are rejected, is not
//     synced, and WaitForSync and Status say why. It syncs when any object is
//     received that can be used, or when those that were rejected are gone.
type RejectedError struct {
	// Informer is the informer's name. A source need not know it: the informer to which
	// it reports fills it in, in a copy.
	Informer string
	// Key and ResourceVersion are those of the object, as far as it has them.
	Key             index.Key
	ResourceVersion string
	// Listed reports that the object came in a list, not by a watch.
	Listed bool
	// Stands reports that the source takes this back itself, and that nothing else that is
	// reported of the key does, unless its namespace leaves: a view rejects objects of its
	// inputs by their keys, which its own objects may have as well.
	Stands bool
	// Err is the reason of the rejection. A source may report an error with a Key and without Err,
	// which takes back what it has reported of that key, with the same Stands.
	Err error
}

// AsRejected returns what Sink.Report was called with if it reports an object. An error that
// wraps one reports something else: of an input that waits for its first list, for example.
func AsRejected(err error) (*RejectedError, bool) {
	rejected, ok := err.(*RejectedError) //nolint:errorlint // see above
	return rejected, ok
}

// Error implements error.
func (e *RejectedError) Error() string {
	if e.Informer == "" {
		return fmt.Sprintf("object %q at resource version %q was left out: %v", e.Key, e.ResourceVersion, e.Err)
	}
	return fmt.Sprintf("informer %s: object %q at resource version %q was left out: %v", e.Informer, e.Key, e.ResourceVersion, e.Err)
}

// Unwrap returns Err.
func (e *RejectedError) Unwrap() error { return e.Err }
