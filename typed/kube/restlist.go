package kube

import (
	"context"
	"errors"
	"io"
	"runtime"
	"strings"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	k8sruntime "k8s.io/apimachinery/pkg/runtime"

	"github.com/kubetyped/informer/index"
	"github.com/kubetyped/informer/internal/decode/kept"
	"github.com/kubetyped/informer/internal/decode/wire"
	"github.com/kubetyped/informer/typed/source"
)

// restListerWatcher lists and watches for a Reflector.
type restListerWatcher[T index.Object] struct {
	target
	policy[T]
	client   *restClient[T]     // nil: others make the requests
	registry *k8sruntime.Scheme // has the types of lists
	reports  reporter
	meter    *source.Meter // counts what is received; nil: it is not counted
	single   bool          // it is about one object

	listed  int // owned by the Reflector's lists; objects of the pages so far
	breaks  breaks
	streams sync.WaitGroup
}

// reporter receives the progress and the errors of lists and watches; a source.Sink is one.
type reporter interface {
	Progress(received, expected int)
	Report(err error)
}

// decoders returns how many goroutines may decode.
func decoders() int { return runtime.GOMAXPROCS(0) }

// progressStep is how many objects come between two reports of progress, and progressTime after which
// time fewer are reported.
const (
	progressStep = 100
	progressTime = time.Second
)

// ListWithContext implements cache.ListerWithContext.
func (lw *restListerWatcher[T]) ListWithContext(ctx context.Context, opts metav1.ListOptions) (k8sruntime.Object, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	response, codec, err := lw.client.get(ctx, lw.resource.path(lw.namespace), opts)
	if err != nil {
		return nil, newStreamError("list", lw.resource, "", err)
	}
	defer response.Close() //nolint:errcheck // it has been read, or is given up
	return lw.readList(ctx, cancel, response, codec, opts)
}

// readList decodes a list. It calls cancel to end reading before the response does.
func (lw *restListerWatcher[T]) readList(ctx context.Context, cancel func(), response io.Reader, codec wire.Codec[T], opts metav1.ListOptions) (k8sruntime.Object, error) {
	if opts.Continue == "" {
		lw.listed = 0
	}
	list, kindless := &wrappedList{}, 0
	reported := time.Now()
	items := codec.Items(metered{response, lw.meter})
	err := wire.NewPipeline(decoders(),
		func(item []byte) (listItem, error) {
			if done := lw.meter.Decode(); done != nil {
				defer done()
			}
			return lw.item(codec, item)
		},
		func(item listItem) bool {
			list.Items = append(list.Items, item.object)
			if item.kindless {
				kindless++
			}
			if n := len(list.Items); n%progressStep == 0 || time.Since(reported) >= progressTime {
				reported = time.Now()
				lw.reports.Progress(lw.listed+n, 0)
			}
			return ctx.Err() == nil
		}, cancel).Run(items)
	if lw.failing && !lw.expected.Empty() && errors.Is(err, wire.ErrEmptyObject) {
		err = nil // client-go's generated clients read an empty list, and servers of tests rely on it
	}
	if err == nil {
		err = lw.checkKind(items.Head().TypeMeta, len(list.Items), kindless)
	}
	if err != nil {
		return nil, newStreamError("list", lw.resource, "", err)
	}
	lw.listed += len(list.Items)
	list.TypeMeta, list.ListMeta = items.Head().TypeMeta, items.Head().ListMeta
	list.nameKinds()
	namePacked[T](list)
	return list, nil
}

// metered is a response that is counted as it is read.
type metered struct {
	io.Reader
	meter *source.Meter
}

// Read implements io.Reader.
func (m metered) Read(into []byte) (int, error) {
	n, err := m.Reader.Read(into)
	m.meter.Read(n)
	return n, err
}

// listItem is an item of a list.
type listItem struct {
	object   k8sruntime.Object
	kindless bool // the server has not said of which kind it is
}

// item decodes an item of a list. One that cannot be used is passed on, to be
// rejected.
func (lw *restListerWatcher[T]) item(codec wire.Codec[T], item []byte) (listItem, error) {
	obj, err := codec.Item(item)
	invalid, ok := errors.AsType[*wire.ObjectError](err)
	switch {
	case ok && !lw.failing:
		return listItem{object: wrapInvalid[T](invalid, "")}, nil
	case err != nil:
		return listItem{}, err
	}
	kindless := true
	if lw.expected.Kind != "" {
		kind := wire.KindOf(obj)
		switch {
		case lw.isStray(kind) && lw.failing:
			return listItem{}, strayError(kind, lw.expected)
		case lw.isStray(kind):
			return listItem{object: wrapStray(obj, kind, lw.expected)}, nil
		}
		kindless = kind.Kind == ""
	}
	if lw.stampItem != nil {
		lw.stampItem(obj)
	}
	return listItem{wrap(obj), kindless}, nil
}

// isStray reports whether an object is of another kind than it should be.
func (lw *restListerWatcher[T]) isStray(kind metav1.TypeMeta) bool {
	return lw.expected.Kind != "" && kind.Kind != "" && kind.GroupVersionKind() != lw.expected
}

// checkKind returns an error if a list is one of other objects: if its kind says
// so, and its items do not say otherwise. Items of types that the server knows have
// no kind, so that of the list decides; lists of custom resources may be called
// anything, and their items have kinds.
func (lw *restListerWatcher[T]) checkKind(list metav1.TypeMeta, items, kindless int) error {
	if lw.expected.Kind == "" || list.Kind == "" || items > 0 && kindless == 0 {
		return nil
	}
	expected := lw.expected
	expected.Kind += "List"
	if list.GroupVersionKind() == expected {
		return nil
	}
	of, known := itemsOf(lw.registry, list.GroupVersionKind())
	if of == lw.of.Elem() || !known && items == 0 {
		return nil
	}
	return strayError(list, expected)
}

// nameKinds gives unstructured objects without a kind the one that the list is
// of. API servers leave it out of the items of lists whose type they know.
func (l *wrappedList) nameKinds() {
	kind := strings.TrimSuffix(l.Kind, "List")
	for _, item := range l.Items {
		switch o := item.(type) {
		case *unstructured.Unstructured:
			if o.GetKind() == "" && o.GetAPIVersion() == "" {
				o.SetAPIVersion(l.APIVersion)
				o.SetKind(kind)
			}
		case *kept.Object:
			o.NameKind(l.APIVersion, kind)
		}
	}
}
