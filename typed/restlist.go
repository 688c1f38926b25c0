package typed

import (
	"context"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	k8sruntime "k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/kubetyped/informer/index"
	"github.com/kubetyped/informer/internal/wire"
)

// restListerWatcher lists and watches for a Reflector.
type restListerWatcher[T index.Object] struct {
	client   *restClient[T]
	resource resource
	config   restConfig
	sink     Sink[T]
	stamp    func(T)
	expected schema.GroupVersionKind // of every object; zero: not known

	listed  int         // owned by the Reflector's lists; objects of the pages so far
	plain   atomic.Bool // lists are not streamed any more
	broken  atomic.Bool // the last watch broke off
	between backoff     // owned by the Reflector's watches; after watches that broke off
	streams sync.WaitGroup
}

// List is there to make a cache.ListerWatcher; the Reflector does not call it.
func (lw *restListerWatcher[T]) List(opts metav1.ListOptions) (k8sruntime.Object, error) {
	return lw.ListWithContext(context.Background(), opts)
}

// Watch is there to make a cache.ListerWatcher; the Reflector does not call it.
func (lw *restListerWatcher[T]) Watch(opts metav1.ListOptions) (watch.Interface, error) {
	return lw.WatchWithContext(context.Background(), opts)
}

// decoders returns how many goroutines may decode.
func decoders() int { return runtime.GOMAXPROCS(0) }

// progressStep is how many objects come between two reports of progress.
const progressStep = 100

// ListWithContext implements cache.ListerWithContext.
func (lw *restListerWatcher[T]) ListWithContext(ctx context.Context, opts metav1.ListOptions) (k8sruntime.Object, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	response, codec, err := lw.client.get(ctx, lw.resource.path(lw.config.namespace), opts)
	if err != nil {
		return nil, newStreamError("list", lw.resource, "", err)
	}
	defer response.Close() //nolint:errcheck // it has been read, or is given up
	if opts.Continue == "" {
		lw.listed = 0
	}
	list := &carriedList{}
	items := codec.Items(response)
	err = wire.NewPipeline(decoders(),
		func(item []byte) (T, error) {
			obj, err := codec.Item(item)
			if err == nil {
				lw.stamp(obj)
			}
			return obj, err
		},
		func(obj T) bool {
			list.Items = append(list.Items, carry(obj))
			if n := len(list.Items); n%progressStep == 0 {
				lw.sink.Progress(lw.listed+n, 0)
			}
			return ctx.Err() == nil
		}, cancel).Run(items)
	if err != nil {
		return nil, newStreamError("list", lw.resource, "", err)
	}
	lw.listed += len(list.Items)
	list.TypeMeta, list.ListMeta = items.Head().TypeMeta, items.Head().ListMeta
	list.nameKinds()
	return list, nil
}

// nameKinds gives unstructured objects without a kind the one that the list is
// of. API servers leave it out of the items of lists whose type they know.
func (l *carriedList) nameKinds() {
	kind := strings.TrimSuffix(l.Kind, "List")
	for _, item := range l.Items {
		if u, ok := item.(*unstructured.Unstructured); ok && u.GetKind() == "" && u.GetAPIVersion() == "" {
			u.SetAPIVersion(l.APIVersion)
			u.SetKind(kind)
		}
	}
}
