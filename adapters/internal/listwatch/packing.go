package listwatch

import (
	"errors"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/client-go/tools/cache"

	"github.com/kubetyped/informer/index"
	"github.com/kubetyped/informer/internal/decode/kept"
	"github.com/kubetyped/informer/typed/kube"
)

// Packing is a ListerWatcher whose informer keeps objects as bytes.
type Packing struct {
	cache.ListerWatcher // the one that decodes as client-go does

	// Pack returns what to list and watch with instead, and what decodes for it. Objects are
	// *kept.Object, and share bytes with what held returns for their key. It returns an error if
	// there is no way to decode them here.
	Pack func(held func(index.Key) *kept.Object) (cache.ListerWatcher, Decoding, error)
}

// Decoding decodes for a ListerWatcher; see kube.DecodingListerWatcher.
type Decoding interface {
	Wait()
	Keep(mediaType string, obj metav1.Object, bytes []byte) metav1.Object
}

// Packing returns what lists and watches as s, and keeps objects as bytes.
func (s *Decodable) Packing() *Packing {
	return &Packing{ListerWatcher: s.ListerWatcher, Pack: s.pack}
}

// NewPacking is NewDecoding for objects that are kept as bytes.
func NewPacking(lw cache.ListerWatcher, example runtime.Object, kind schema.GroupVersionKind, named schema.GroupVersionResource) *Packing {
	return &Packing{ListerWatcher: lw, Pack: func(held func(index.Key) *kept.Object) (cache.ListerWatcher, Decoding, error) {
		var opts []kube.SourceOption
		if !named.Empty() {
			opts = append(opts, kube.WithResource(named))
		}
		whole, err := kube.NewDecodingListerWatcher(lw, example, kind, nil, opts...)
		if err != nil {
			return nil, nil, err
		}
		decoding, err := whole.Packing(held)
		return decoding, decoding, err
	}}
}

// Packed is which kinds of a factory are kept as bytes: those that K names, or all if none is
// named. The zero Packed is none.
type Packed[K comparable] struct {
	// Err is why no informer of the factory can run; nil: they can.
	Err error

	all   bool
	named sets.Set[K]
}

// Pack adds kinds, all without any.
func (p *Packed[K]) Pack(named ...K) {
	p.all = p.all || len(named) == 0
	p.named = p.named.Union(sets.New(named...))
}

// Has reports whether a kind is kept as bytes.
func (p *Packed[K]) Has(name K) bool { return p.all || p.named.Has(name) }

// ErrTransformed is why the objects of an informer are not kept as bytes.
var ErrTransformed = errors.New("WithPacked and a transform exclude each other, because it would be lost when an object is decoded again: leave the transform out, or name other kinds in WithPacked")

// Broken returns what makes an informer that ends with an error when it is run.
func Broken(err error) cache.ListerWatcher { return &Namespaces{Err: err} }
