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

// Deduplicating is a ListerWatcher whose user may have it decode objects itself, which are
// deduplicated then.
type Deduplicating struct {
	cache.ListerWatcher // the one that decodes as client-go does

	decode func(held func(index.Key) (metav1.Object, bool)) (cache.ListerWatcher, func(), error)
	pack   func(held func(index.Key) *kept.Object) (cache.ListerWatcher, Decoding, error)
	masked bool // fields are left out, whether parts are shared or not
	alone  bool // nothing is deduplicated, though the user wants it
}

// Decoding returns the ListerWatcher to use instead, and a function that waits until all of its
// watches, which have to be stopped before, have ended. Objects are deduplicated, among each
// other and with those that held returns; if held is nil, they are not. If there is no way to
// decode them here, it returns the ListerWatcher that decodes as client-go does, and the
// reason.
func (s *Deduplicating) Decoding(held func(index.Key) (metav1.Object, bool)) (lw cache.ListerWatcher, wait func(), err error) {
	if s.alone {
		held = nil
	}
	if held == nil && !s.masked {
		return s.ListerWatcher, func() {}, nil
	}
	if lw, wait, err = s.decode(held); err != nil {
		return s.ListerWatcher, func() {}, err
	}
	return lw, wait, nil
}

// Omits reports whether a field is left out of objects, see source.Partial.
func (s *Deduplicating) Omits(field string) bool {
	if !s.masked {
		return false
	}
	lw, _, err := s.decode(nil)
	partial, ok := lw.(*kube.DecodingListerWatcher)
	return err == nil && ok && partial.Omits(field)
}

// NewDeduplicating is New for a client that decodes objects itself if its user wants that.
func NewDeduplicating[T index.Object, L runtime.Object](client func() kube.Client[T, L], clientset any, tweaks ...func(*metav1.ListOptions)) *Deduplicating {
	return &Deduplicating{
		ListerWatcher: New(func() Client[L] { return client() }, clientset, tweaks...),
		decode: func(held func(index.Key) (metav1.Object, bool)) (cache.ListerWatcher, func(), error) {
			decoding, err := kube.NewDecodingClient(client(), func(key index.Key) (T, bool) {
				untyped, found := held(key)
				obj, ok := untyped.(T)
				return obj, found && ok
			})
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

// byContext is a Client whose methods have the names that ListerWatchers give them.
type byContext struct{ lw *kube.DecodingListerWatcher }

func (c byContext) List(ctx context.Context, opts metav1.ListOptions) (runtime.Object, error) {
	return c.lw.ListWithContext(ctx, opts)
}

func (c byContext) Watch(ctx context.Context, opts metav1.ListOptions) (watch.Interface, error) {
	return c.lw.WatchWithContext(ctx, opts)
}

// NewDecoding returns a ListerWatcher that lists and watches by lw, of which nothing else is
// known, and decodes objects itself if its user wants that; see kube.NewDecodingListerWatcher.
// They are deduplicated if shares is true.
func NewDecoding(lw cache.ListerWatcher, example runtime.Object, kind schema.GroupVersionKind, shares bool, fields ...kube.SourceOption) *Deduplicating {
	return &Deduplicating{
		ListerWatcher: lw,
		masked:        len(fields) > 0,
		alone:         !shares,
		decode: func(held func(index.Key) (metav1.Object, bool)) (cache.ListerWatcher, func(), error) {
			decoding, err := kube.NewDecodingListerWatcher(lw, example, kind, held, fields...)
			if err != nil {
				return nil, nil, err
			}
			return decoding, decoding.Wait, nil
		},
	}
}
