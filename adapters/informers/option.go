package informers

import (
	"fmt"
	"reflect"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/informers/internalinterfaces"
	"k8s.io/client-go/tools/cache"

	"github.com/kubetyped/informer/adapters/internal/listwatch"
	"github.com/kubetyped/informer/typed/kube"
	"github.com/kubetyped/informer/typed/source"
)

// SharedInformerOption is an option of a factory. Those of client-go are
// functions of a type that is not exported, so there are the same ones here.
type SharedInformerOption func(*options)

type options struct {
	passed    []informers.SharedInformerOption
	namespace string
	tweak     internalinterfaces.TweakListOptionsFunc
	sharing   bool
	writes    *kube.Writes
	following listwatch.Following[reflect.Type]
	packed    listwatch.Packed[reflect.Type]
	transform bool // there is one
}

// typesOf returns the types of the examples of an option, and sets an error if one is none of
// client-go's scheme.
func typesOf(option string, examples []runtime.Object, err *error) []reflect.Type {
	types := make([]reflect.Type, len(examples))
	for i, example := range examples {
		if types[i] = reflect.TypeOf(example); !isOfClientGo(example) {
			*err = fmt.Errorf("%s: %T is no type of client-go's scheme: a factory has no informer of it", option, example)
		}
	}
	return types
}

func pass(option informers.SharedInformerOption) SharedInformerOption {
	return func(o *options) { o.passed = append(o.passed, option) }
}

// WithCustomResyncConfig sets the resync periods of informers by the types of
// their objects. The others have that of the factory.
func WithCustomResyncConfig(resync map[metav1.Object]time.Duration) SharedInformerOption {
	return pass(informers.WithCustomResyncConfig(resync))
}

// WithTweakListOptions makes a function change the options of each list and watch, of all
// informers.
func WithTweakListOptions(tweak internalinterfaces.TweakListOptionsFunc) SharedInformerOption {
	return func(o *options) {
		o.tweak = tweak
		o.passed = append(o.passed, informers.WithTweakListOptions(tweak))
	}
}

// WithNamespace limits the informers to a namespace, those of kinds excepted
// whose objects are in none.
func WithNamespace(namespace string) SharedInformerOption {
	return func(o *options) {
		o.namespace = namespace
		o.passed = append(o.passed, informers.WithNamespace(namespace))
	}
}

// WithNamespaces makes informers follow a set of namespaces, which may change at any time, with
// one list and watch for each namespace, see source.FromNamespaces: those of the types of
// the examples, or of all kinds without any. It excludes WithNamespace; kinds whose objects are
// in no namespace stay as they are.
//
//  1. Reads of a namespace that is not in the set, or not listed yet, return an error that is
//     source.ErrOutside or source.ErrUnlisted: Get of listers, methods of indexers for a key or
//     a namespace, and List of the listers that ForResource returns. List of the other
//     listers of one namespace logs it and returns nothing, since client-go's code ignores it.
//     A list of all namespaces has the objects of those that were listed.
//  2. Handlers are not called when a namespace leaves the set, see WithOutOfScopeDeletions; if
//     it comes again, its objects are added again.
//  3. A namespace that may not be listed (403) is in the status and in the log, once. It keeps
//     the informer from syncing until that answer, and is listed when that is allowed.
//  4. A transform is called for one object at a time. Handlers of watch errors may be called for
//     several namespaces at the same time; without any, errors of a namespace are logged once.
//
// Mistakes are in the log when the informer starts, which does not sync then: a set that is nil
// or has a name that cannot be that of a namespace, an example without a namespace, a kind of
// an alpha or beta version.
func WithNamespaces(set *source.Namespaces, examples ...runtime.Object) SharedInformerOption {
	return func(o *options) {
		o.following.Follow(set, typesOf("WithNamespaces", examples, &o.following.Err)...)
	}
}

// WithOutOfScopeDeletions makes informers call handlers with the deletions of a namespace's
// objects when it leaves the set of WithNamespaces. The objects may exist still.
func WithOutOfScopeDeletions() SharedInformerOption {
	return func(o *options) { o.following.OutOfScope = true }
}

// WithTransform sets the transform of all informers.
func WithTransform(transform cache.TransformFunc) SharedInformerOption {
	return func(o *options) {
		o.transform = transform != nil
		o.passed = append(o.passed, informers.WithTransform(transform))
	}
}

// WithInformerName gives the informers' metrics a name, and has them reported.
// The factory releases it when it has shut down.
func WithInformerName(name *cache.InformerName) SharedInformerOption {
	return pass(informers.WithInformerName(name))
}

// WithDeduplication enables deduplication: identical parts of objects are decoded and stored once in
// the program. The default is off.
//
// Enable it only if the program never modifies cached objects: a write to one object also
// changes others and can crash the program. Check with adapters.DetectMutations.
//
// It has no effect on informers with a transform function, fake clientsets, and alpha and beta
// kinds.
func WithDeduplication() SharedInformerOption { return func(o *options) { o.sharing = true } }

// WithOwnWrites makes the informers take the answers to the program's own writes, before the
// watch brings them, see kube.Writes. The factory's clientset has to be made with the
// configuration that kube.Writes.Config returns: an informer whose first list shows that it was
// not ends with an error in the log, and does not sync. Alpha and beta kinds are left to the
// watch. A nil w changes nothing.
func WithOwnWrites(w *kube.Writes) SharedInformerOption { return func(o *options) { o.writes = w } }
