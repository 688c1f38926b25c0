package wire

import (
	"errors"
	"io"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer/cbor"
	"k8s.io/apimachinery/pkg/runtime/serializer/cbor/direct"
	"k8s.io/apimachinery/pkg/watch"
)

// unstructuredCBOR decodes CBOR into the contents of unstructured objects, by
// apimachinery's serializer.
type unstructuredCBOR struct {
	event, object runtime.Decoder
}

func newUnstructuredCBOR() unstructuredCBOR {
	scheme := runtime.NewScheme()
	metav1.AddToGroupVersion(scheme, schema.GroupVersion{Version: "v1"})
	return unstructuredCBOR{
		event:  cbor.NewSerializer(scheme, scheme, cbor.Transcode(false)),
		object: cbor.NewSerializer(scheme, scheme),
	}
}

// Frames implements Codec.
func (unstructuredCBOR) Frames(response io.Reader) Frames { return newCBORFrames(response) }

// Items implements Codec.
func (unstructuredCBOR) Items(response io.Reader) Items { return &cborItems{r: response} }

// Event implements Codec.
func (c unstructuredCBOR) Event(frame []byte) (Event[*unstructured.Unstructured], error) {
	var e metav1.WatchEvent
	event := Event[*unstructured.Unstructured]{}
	if _, _, err := c.event.Decode(frame, nil, &e); err != nil {
		return event, err
	}
	if e.Object.Raw == nil {
		return event, errNoObject
	}
	event.Type = watch.EventType(e.Type)
	obj, err := c.Item(e.Object.Raw)
	var invalid *ObjectError
	switch {
	case errors.As(err, &invalid) && checkType(event.Type) == nil:
		return invalidEvent[*unstructured.Unstructured](event.Type, invalid)
	case err != nil:
		return event, err
	}
	convert := runtime.DefaultUnstructuredConverter.FromUnstructured
	switch event.Type {
	case watch.Bookmark:
		event.Bookmark = &metav1.PartialObjectMetadata{}
		return event, convert(obj.Object, event.Bookmark)
	case watch.Error:
		event.Status = &metav1.Status{}
		return event, convert(obj.Object, event.Status)
	default:
		return unstructuredEvent(event.Type, obj), checkType(event.Type)
	}
}

// Item implements Codec.
func (c unstructuredCBOR) Item(item []byte) (*unstructured.Unstructured, error) {
	obj := &unstructured.Unstructured{}
	_, _, err := c.object.Decode(item, nil, obj)
	if err != nil && obj.Object != nil && (runtime.IsMissingKind(err) || runtime.IsMissingVersion(err)) {
		err = nil // items of lists need none
	}
	if err != nil {
		return nil, &ObjectError{Identity: identifyCBOR(item), Err: err}
	}
	return obj, nil
}

// cborItems are the items of a list in CBOR. The list is read as a whole before
// the first of them is decoded: apimachinery has nothing that reads a part.
type cborItems struct {
	r     io.Reader
	read  bool
	head  Head
	items []runtime.RawExtension
}

// Head implements Items.
func (l *cborItems) Head() *Head { return &l.head }

// Offset implements Frames. It is always that of the list.
func (*cborItems) Offset() int64 { return 0 }

// Buffered implements Frames.
func (l *cborItems) Buffered() int { return len(l.items) }

// Next implements Frames.
func (l *cborItems) Next() ([]byte, error) {
	if !l.read {
		if err := l.readAll(); err != nil {
			return nil, err
		}
		l.read = true
	}
	if len(l.items) == 0 {
		return nil, io.EOF
	}
	item := l.items[0].Raw
	l.items[0].Raw = nil // it is decoded next, and not needed any more
	l.items = l.items[1:]
	if item == nil {
		return nil, errors.New("an item is null")
	}
	return item, nil
}

func (l *cborItems) readAll() error {
	text, err := io.ReadAll(l.r)
	if err != nil {
		return within(err)
	}
	var list struct {
		metav1.TypeMeta
		metav1.ListMeta `json:"metadata"`
		Items           *[]runtime.RawExtension `json:"items"`
	}
	if err := direct.Unmarshal(text, &list); err != nil {
		return within(err)
	}
	l.head = Head{list.TypeMeta, list.ListMeta}
	if list.Items != nil {
		l.items = *list.Items
	}
	return l.head.checkList(list.Items != nil)
}
