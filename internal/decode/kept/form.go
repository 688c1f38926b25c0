package kept

import (
	"math"
	"strings"
	"sync/atomic"
	"unique"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubetyped/informer/internal/decode/packed"
	"github.com/kubetyped/informer/internal/heapsize"
)

// Form is what the objects of an informer that come in one format have in common.
type Form struct {
	store  *packed.Store
	decode func(bytes []byte, like Whole) (Whole, error)
	stamps Stamps
	listed atomic.Pointer[metav1.TypeMeta] // the kind of what lists have without one; nil: none
	counts packed.Decoded

	measured atomic.Uint32
	ratio    atomic.Uint64 // of an object's memory to its bytes, as the bits of a float64
}

// Stamps set the kind of decoded objects; nil: it is as in the bytes.
type Stamps struct {
	Event func(Whole) // of objects of events
	Item  func(Whole) // of items of lists
}

// NewForm returns a Form whose objects a function decodes, from several goroutines at once. They may
// refer to parts of like, another state of the object, unless that is nil.
func NewForm(decode func(bytes []byte, like Whole) (Whole, error), stamps Stamps) *Form {
	return &Form{store: packed.NewStore(), decode: decode, stamps: stamps}
}

// SharedByObjects keeps the form out of the memory that an object is said to take, see
// heapsize.Shared.
func (*Form) SharedByObjects() {}

// Keep returns an object that was decoded from bytes, of which it makes a copy, and puts the
// decoded one into the ring. Before is an earlier state of the object, or nil.
func (f *Form) Keep(whole Whole, bytes []byte, event bool, before *Object) *Object {
	o := &Object{
		form:      f,
		namespace: unique.Make(whole.GetNamespace()),
		labels:    labelsOf(whole.GetLabels()),
		version:   strings.Clone(whole.GetResourceVersion()),
		size:      uint32(min(uint64(len(bytes)), math.MaxUint32)),
		event:     event,
	}
	var record packed.Record
	if before != nil && before.name == whole.GetName() {
		o.name, record = before.name, before.record
	} else {
		o.name = strings.Clone(whole.GetName())
	}
	o.record = f.store.Pack(o.namespace.Value(), o.name, bytes, record)
	f.stamp(whole, event)
	o.remember(whole, f.sizeOf(whole, int64(o.size)))
	return o
}

// stamp sets the kind of an object as it would be without Form.
func (f *Form) stamp(whole Whole, event bool) {
	switch {
	case event && f.stamps.Event != nil:
		f.stamps.Event(whole)
	case !event && f.stamps.Item != nil:
		f.stamps.Item(whole)
	case !event:
		f.nameKind(whole)
	}
}

// nameKind gives an unstructured object without a kind that of its list.
func (f *Form) nameKind(whole Whole) {
	u, ok := whole.(*unstructured.Unstructured)
	kind := f.listed.Load()
	if ok && kind != nil && u.GetKind() == "" && u.GetAPIVersion() == "" {
		u.SetGroupVersionKind(schema.FromAPIVersionAndKind(kind.APIVersion, kind.Kind))
	}
}

// sizeOf estimates the memory of an object by its bytes: one in 256 is measured.
func (f *Form) sizeOf(whole Whole, bytes int64) int64 {
	if bytes == 0 {
		return 1
	}
	if f.measured.Add(1)%256 == 1 {
		scale := heapsize.NewScale()
		scale.Add(whole)
		f.ratio.Store(math.Float64bits(float64(scale.Bytes()) / float64(bytes)))
	}
	return max(bytes, int64(math.Float64frombits(f.ratio.Load())*float64(bytes)))
}
