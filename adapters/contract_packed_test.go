package adapters_test

import (
	"context"
	"encoding/json"
	"regexp"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/watchlist"

	"github.com/kubetyped/informer/adapters"
	"github.com/kubetyped/informer/adapters/internal/listwatch"
	"github.com/kubetyped/informer/index"
	"github.com/kubetyped/informer/internal/decode/kept"
)

// packed is the implementation that keeps Pods as bytes.
const packed = "packed"

// packs reports whether a test is for informers that keep objects as bytes. The others have a
// transform, which those refuse, or an object of another type, which nothing there decodes.
func packs(t *testing.T) bool {
	return !regexp.MustCompile("Transform|UnversionedObjects|StoreVersionOfEvents|DroppedEvents").MatchString(t.Name())
}

// packedSimple makes informers that keep Pods as bytes, which comes after what a script answers.
func packedSimple(lw cache.ListerWatcher, example runtime.Object, resync time.Duration, indexers cache.Indexers) cache.SharedIndexInformer {
	return packedWithOptions(lw, example, cache.SharedIndexInformerOptions{ResyncPeriod: resync, Indexers: indexers})
}

func packedWithOptions(lw cache.ListerWatcher, example runtime.Object, options cache.SharedIndexInformerOptions) cache.SharedIndexInformer {
	if _, ok := example.(*corev1.Pod); !ok || lw == nil {
		return adapters.NewSharedIndexInformerWithOptions(lw, example, options)
	}
	return packedOf(lw, example, options, kept.NewForm(decodePod, kept.Stamps{}))
}

func packedOf(lw cache.ListerWatcher, example runtime.Object, options cache.SharedIndexInformerOptions, form *kept.Form) cache.SharedIndexInformer {
	return adapters.NewSharedIndexInformerWithOptions(&listwatch.Packing{ListerWatcher: lw, Pack: func(held func(index.Key) *kept.Object) (cache.ListerWatcher, listwatch.Decoding, error) {
		p := &packer{of: lw, lw: cache.ToListerWatcherWithContext(lw), form: form, held: held}
		return p, p, nil
	}}, example, options)
}

func decodePod(bytes []byte, _ kept.Whole) (kept.Whole, error) {
	pod := &corev1.Pod{}
	return pod, json.Unmarshal(bytes, pod)
}

// packer is a ListerWatcher that keeps the Pods of another one as bytes.
type packer struct {
	of   cache.ListerWatcher
	lw   cache.ListerWatcherWithContext
	form *kept.Form
	held func(index.Key) *kept.Object
}

// keep returns a Pod as bytes, anything else as it is.
func (p *packer) keep(obj runtime.Object) runtime.Object {
	pod, ok := obj.(*corev1.Pod)
	if !ok || pod == nil {
		return obj
	}
	bytes, err := json.Marshal(pod)
	if err != nil {
		return obj
	}
	return p.form.Keep(pod, bytes, true, p.held(index.KeyOf(pod)))
}

// IsWatchListSemanticsUnSupported is how a Reflector asks whether lists can not be streamed.
func (p *packer) IsWatchListSemanticsUnSupported() bool {
	return watchlist.DoesClientNotSupportWatchListSemantics(p.of)
}

// List implements cache.Lister.
func (p *packer) List(options metav1.ListOptions) (runtime.Object, error) {
	return p.ListWithContext(context.Background(), options)
}

// Watch implements cache.Watcher.
func (p *packer) Watch(options metav1.ListOptions) (watch.Interface, error) {
	return p.WatchWithContext(context.Background(), options)
}

// ListWithContext implements cache.ListerWithContext.
func (p *packer) ListWithContext(ctx context.Context, options metav1.ListOptions) (runtime.Object, error) {
	obj, err := p.lw.ListWithContext(ctx, options)
	list, ok := obj.(*corev1.PodList)
	if !ok {
		return obj, err
	}
	of := &keptList{ListMeta: list.ListMeta}
	for i := range list.Items {
		of.Items = append(of.Items, p.keep(&list.Items[i]))
	}
	return of, err
}

// WatchWithContext implements cache.WatcherWithContext.
func (p *packer) WatchWithContext(ctx context.Context, options metav1.ListOptions) (watch.Interface, error) {
	w, err := p.lw.WatchWithContext(ctx, options)
	if err != nil {
		return w, err
	}
	keeping := &packedWatch{of: w, events: make(chan watch.Event), stopped: make(chan struct{})}
	go keeping.run(p)
	return keeping, nil
}

// packedWatch is a watch of objects that are kept as bytes.
type packedWatch struct {
	of      watch.Interface
	events  chan watch.Event
	stopped chan struct{}
	once    sync.Once
}

func (w *packedWatch) run(p *packer) {
	defer close(w.events)
	for {
		select {
		case <-w.stopped:
			return
		case e, ok := <-w.of.ResultChan():
			if !ok {
				return
			}
			if e.Type != watch.Bookmark && e.Type != watch.Error {
				e.Object = p.keep(e.Object)
			}
			select {
			case w.events <- e:
			case <-w.stopped:
			}
		}
	}
}

func (w *packedWatch) ResultChan() <-chan watch.Event { return w.events }

func (w *packedWatch) Stop() {
	w.once.Do(func() { close(w.stopped) })
	w.of.Stop()
}

// Wait implements listwatch.Decoding.
func (*packer) Wait() {}

// Keep implements listwatch.Decoding.
func (*packer) Keep(_ string, obj metav1.Object, _ []byte) metav1.Object { return obj }

// keptList is a list of objects that are kept as bytes.
type keptList struct {
	metav1.TypeMeta
	metav1.ListMeta
	Items []runtime.Object
}

// DeepCopyObject implements runtime.Object.
func (l *keptList) DeepCopyObject() runtime.Object { return l }
