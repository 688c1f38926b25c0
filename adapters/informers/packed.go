package informers

import (
	"errors"
	"fmt"
	"reflect"
	"time"

	"k8s.io/apimachinery/pkg/runtime"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/client-go/informers/internalinterfaces"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"

	"github.com/kubetyped/informer/adapters/internal/listwatch"
)

// WithPacked keeps objects as the bytes that the server sent: those of the types of the examples,
// or of all kinds without any. A Pod takes a kilobyte rather than fifteen. It is for kinds of
// which there are many; programs need no change, and pay with time, since an object is decoded
// when somebody looks at it:
//
//  1. Get decodes an object, about as long as two deep copies take. A list decodes all of its
//     objects, those too that a selector leaves out then. Handlers get the old object decoded,
//     too.
//  2. The objects that were decoded last, about 8 MiB of them in the program, are kept whole beside:
//     handlers and index functions get the same ones. Nobody may modify them, as ever; who does
//     it all the same modifies an object until it is decoded again.
//  3. What cannot be decoded when it arrives is an error of the watch, as without the option.
//     Should it fail later, Get returns an error with the key, and the others leave the object
//     out, which utilruntime.HandleError is told once.
//  4. The log says so where objects are kept whole, which is by fake clientsets, and alpha and
//     beta kinds.
//
// Requests are as those of WithDeduplication, whose place it takes for these kinds. It excludes
// transforms, since what they leave out would be there again: SetTransform returns an error, and
// the informers of a factory with both end with one in the log when they start, and do not sync.
// So it is with an example that is of no kind of client-go.
func WithPacked(examples ...runtime.Object) SharedInformerOption {
	return func(o *options) {
		types := make([]reflect.Type, len(examples))
		for i, example := range examples {
			if types[i] = reflect.TypeOf(example); !isOfClientGo(example) {
				o.packed.Err = fmt.Errorf("WithPacked: %T is no type of client-go's scheme: a factory has no informer of it", example)
			}
		}
		o.packed.Pack(types...)
	}
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
// kept as bytes, and says so.
func wholly(makeInformer internalinterfaces.NewInformerFunc, example runtime.Object) internalinterfaces.NewInformerFunc {
	return func(clientset kubernetes.Interface, resync time.Duration) cache.SharedIndexInformer {
		utilruntime.HandleError(fmt.Errorf("objects of type %T are kept whole: %w", example, errUnstablePacked))
		return makeInformer(clientset, resync)
	}
}
