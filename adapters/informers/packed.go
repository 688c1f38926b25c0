package informers

import (
	"errors"
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/runtime"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/client-go/informers/internalinterfaces"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"

	"github.com/kubetyped/informer/adapters/internal/listwatch"
)

// WithPacked keeps objects as the bytes that the server sent: those of the types of the examples,
// or of all kinds without any. A Pod takes a kilobyte instead of fifteen. It is for kinds with many
// objects. Programs need no change, and take more time, since reads decode:
//
//  1. Get decodes an object, which takes as long as a deep copy, or two from JSON. A list decodes all
//     objects, and its label selector selects then. Handlers get the old object decoded, too.
//  2. A ring keeps the objects that were decoded last, about 8 MiB in the program, for handlers,
//     index functions and Get. They must not be modified. A modification by mistake ends when the
//     object leaves the ring.
//  3. An object that cannot be decoded when it arrives is an error of the watch, as without the
//     option. If decoding fails later, Get returns an error with the key. Lists and handlers leave
//     the object out, which is reported once to utilruntime.HandleError.
//  4. Where client-go decodes, as with fake clientsets, and alpha and beta kinds, objects are
//     kept whole, which is reported once.
//
// Requests are those of WithDeduplication, which it replaces for these kinds. It excludes
// transforms, since decoding again would undo them: SetTransform returns an error, and
// informers of a factory with both end with an error in the log when they start, and do not sync.
// The same holds for an example that is of no kind of client-go.
func WithPacked(examples ...runtime.Object) SharedInformerOption {
	return func(o *options) { o.packed.Pack(typesOf("WithPacked", examples, &o.packed.Err)...) }
}

// packingErr returns why an informer, which is to keep bytes or not, cannot run.
func (f *factory) packingErr(packed bool) error {
	if packed && f.transform {
		return listwatch.ErrTransformed
	}
	return f.packed.Err
}

var errUnstablePacked = errors.New("WithPacked: alpha and beta kinds are decoded by client-go: name the others in WithPacked")

// wholly returns a function that makes an informer that keeps objects whole, though they are to be
// kept as bytes, and reports that.
func wholly(makeInformer internalinterfaces.NewInformerFunc, example runtime.Object) internalinterfaces.NewInformerFunc {
	return func(clientset kubernetes.Interface, resync time.Duration) cache.SharedIndexInformer {
		utilruntime.HandleError(fmt.Errorf("objects of type %T are kept whole: %w", example, errUnstablePacked))
		return makeInformer(clientset, resync)
	}
}
