package listwatch

import (
	"context"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"

	"github.com/kubetyped/informer/index"
	"github.com/kubetyped/informer/internal/decode/kept"
	"github.com/kubetyped/informer/typed/kube"
)

// Decodable is a ListerWatcher whose responses can be decoded here, in place of client-go.
type Decodable struct {
	cache.ListerWatcher // the one that decodes as client-go does

	// Deduplicates says that its user wants objects to be deduplicated.
	Deduplicates bool

	decode func(held func(index.Key) (metav1.Object, bool)) (cache.ListerWatcher, func(), error)
	pack   func(held func(index.Key) *kept.Object) (cache.ListerWatcher, Decoding, error)
	masked bool // fields are left out
}

// Decoding returns the ListerWatcher to use instead, and a function that waits until all of its
// watches, which have to be stopped before, have ended. Objects are deduplicated, among each
// other and with those that held returns, if the user wants that and held is not nil. If there is
// no way to decode them here, it returns the ListerWatcher that decodes as client-go does, and
// the reason.
func (s *Decodable) Decoding(held func(index.Key) (metav1.Object, bool)) (lw cache.ListerWatcher, wait func(), err error) {
	if !s.Deduplicates {
		held = nil
	}
	if lw, wait, err = s.decode(held); err != nil {
		return s.ListerWatcher, func() {}, err
	}
	return lw, wait, nil
}

// Omits reports whether a field is left out of objects, see source.Partial.
func (s *Decodable) Omits(field string) bool {
	if !s.masked {
		return false
	}
	lw, _, err := s.decode(nil)
	partial, ok := lw.(*kube.DecodingListerWatcher)
	return err == nil && ok && partial.Omits(field)
}

// NewDecodable is New for a client whose responses are decoded here, if it is one of client-go's
// clientset.
func NewDecodable[T index.Object, L runtime.Object](client func() kube.Client[T, L], clientset any, deduplicates bool, tweaks ...func(*metav1.ListOptions)) *Decodable {
	return &Decodable{
		Deduplicates:  deduplicates,
		ListerWatcher: New(func() Client[L] { return client() }, clientset, tweaks...),
		decode: func(held func(index.Key) (metav1.Object, bool)) (cache.ListerWatcher, func(), error) {
			decoding, err := kube.NewDecodingClient(client(), typed[T](held))
			if err != nil {
				return nil, nil, err
			}
			return New(func() Client[runtime.Object] { return byContext{decoding} }, clientset, tweaks...), decoding.Wait, nil
		},
		pack: func(held func(index.Key) *kept.Object) (cache.ListerWatcher, Decoding, error) {
			whole, err := kube.NewDecodingClient(client(), nil)
			if err != nil {
				return nil, nil, err
			}
			decoding, err := whole.Packing(held)
			return New(func() Client[runtime.Object] { return byContext{decoding} }, clientset, tweaks...), decoding, err
		},
	}
}

// typed returns held for objects of a type, nil if it is nil.
func typed[T index.Object](held func(index.Key) (metav1.Object, bool)) func(index.Key) (T, bool) {
	if held == nil {
		return nil
	}
	return func(key index.Key) (T, bool) {
		untyped, found := held(key)
		obj, ok := untyped.(T)
		return obj, found && ok
	}
}

// byContext is a Client whose methods have the names that ListerWatchers give them.
type byContext struct{ lw *kube.DecodingListerWatcher }

func (c byContext) List(ctx context.Context, opts metav1.ListOptions) (runtime.Object, error) {
	return c.lw.ListWithContext(ctx, opts)
}

func (c byContext) Watch(ctx context.Context, opts metav1.ListOptions) (watch.Interface, error) {
	return c.lw.WatchWithContext(ctx, opts)
}

// NewDecoding returns a Decodable that lists and watches by lw, of which nothing else is known;
// see kube.NewDecodingListerWatcher.
func NewDecoding(lw cache.ListerWatcher, example runtime.Object, kind schema.GroupVersionKind, deduplicates bool, fields ...kube.SourceOption) *Decodable {
	return &Decodable{
		ListerWatcher: lw,
		Deduplicates:  deduplicates,
		masked:        len(fields) > 0,
		decode: func(held func(index.Key) (metav1.Object, bool)) (cache.ListerWatcher, func(), error) {
			decoding, err := kube.NewDecodingListerWatcher(lw, example, kind, held, fields...)
			if err != nil {
				return nil, nil, err
			}
			return decoding, decoding.Wait, nil
		},
	}
}
