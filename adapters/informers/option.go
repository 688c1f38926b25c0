package informers

import (
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/informers/internalinterfaces"
	"k8s.io/client-go/tools/cache"

	"github.com/kubetyped/informer/typed/kube"
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

// WithTransform sets the transform of all informers.
func WithTransform(transform cache.TransformFunc) SharedInformerOption {
	return pass(informers.WithTransform(transform))
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
// kinds. The others request protobuf, or else JSON, whatever the clientset requests; server
// warnings go to the handler of rest.SetDefaultWarningHandler.
func WithDeduplication() SharedInformerOption { return func(o *options) { o.sharing = true } }

// WithOwnWrites makes the informers take the answers to the program's own writes, before the
// watch brings them, see kube.Writes. The factory's clientset has to be made with the
// configuration that kube.Writes.Config returns: an informer whose first list shows that it was
// not ends with an error in the log, and does not sync. Alpha and beta kinds are left to the
// watch. A nil w changes nothing.
func WithOwnWrites(w *kube.Writes) SharedInformerOption { return func(o *options) { o.writes = w } }
