package kept

import (
	"encoding/json"
	"fmt"
	"sync"
	"sync/atomic"
	"time"
	"unique"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubetyped/informer/internal/decode/packed"
	"github.com/kubetyped/informer/internal/heapsize"
)

// Whole is an object of an API type.
type Whole interface {
	metav1.Object
	runtime.Object
}

// Object is an object that is kept as bytes. It does not change, and may be used by several
// goroutines at once. To a Reflector it is an object like others.
type Object struct {
	form      *Form
	namespace unique.Handle[string]
	labels    Labels
	name      string
	version   string
	record    packed.Record
	last      atomic.Pointer[decoded] // nil: it is not in the ring
	size      uint32                  // of its bytes
	event     bool                    // it came as an event
	reported  atomic.Bool             // an error of decoding
}

// decoded is an object in the ring.
type decoded struct {
	Whole
	size int64 // in memory, about
}

// GetName returns the name of the object.
func (o *Object) GetName() string { return o.name }

// GetNamespace returns the namespace of the object.
func (o *Object) GetNamespace() string { return o.namespace.Value() }

// GetResourceVersion returns the version of the object.
func (o *Object) GetResourceVersion() string { return o.version }

// KeptLabels returns the labels of the object, without decoding it.
func (o *Object) KeptLabels() Labels { return o.labels }

// Decode decodes the object: it is the caller's. The error names it.
func (o *Object) Decode() (Whole, error) { return o.decode(nil) }

func (o *Object) decode(like Whole) (Whole, error) {
	defer o.form.counts.Since(time.Now())
	var whole Whole
	err := o.record.Read(func(bytes []byte) (err error) {
		whole, err = o.form.decode(bytes, like)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("decode %s, which is kept as bytes: %w", o.key(), err)
	}
	o.form.stamp(whole, o.event)
	return whole, nil
}

func (o *Object) key() string {
	if namespace := o.GetNamespace(); namespace != "" {
		return namespace + "/" + o.name
	}
	return o.name
}

// Whole returns the object that is in the ring, or decodes it and puts it there. It must not be
// modified.
func (o *Object) Whole() (Whole, error) { return o.Before(nil) }

// Before does as Whole, for an object that is shown with a later state of it, which Whole has
// returned, or nil. It may refer to parts of that then, so that decoding takes less.
func (o *Object) Before(later Whole) (Whole, error) {
	if whole, ok := o.Recent(); ok {
		return whole, nil
	}
	whole, err := o.decode(later)
	if err != nil {
		return nil, err
	}
	size := o.form.sizeOf(whole, int64(o.size))
	if later != nil {
		size = max(size/alike, 1)
	}
	return o.remember(whole, size), nil
}

// Recent returns the object if it is in the ring.
func (o *Object) Recent() (Whole, bool) {
	if d := o.last.Load(); d != nil {
		return d.Whole, true
	}
	return nil, false
}

// Peek does as Whole, but puts nothing into the ring: it is for reads of all objects.
func (o *Object) Peek() (Whole, error) {
	if whole, ok := o.Recent(); ok {
		return whole, nil
	}
	return o.Decode()
}

// alike is about the part of an object's memory that it does not share with its next state.
const alike = 4

// remember puts a decoded object into the ring, and returns the one that is there.
func (o *Object) remember(whole Whole, size int64) Whole {
	d := &decoded{whole, size}
	if !o.last.CompareAndSwap(nil, d) {
		if other := o.last.Load(); other != nil {
			return other.Whole
		}
		return whole
	}
	recent.add(o, d)
	return whole
}

// MarshalJSON implements json.Marshaler, by the object itself.
func (o *Object) MarshalJSON() ([]byte, error) {
	whole, err := o.Peek()
	if err != nil {
		return nil, err
	}
	return json.Marshal(whole)
}

// AddPacked implements heapsize.Packed.
func (o *Object) AddPacked(to *heapsize.PackedSum) {
	o.record.Add(to)
	o.form.counts.Add(to)
}

// Report calls a function unless it was called for the object before.
func (o *Object) Report(report func()) {
	if !o.reported.Swap(true) {
		report()
	}
}

// GetObjectKind implements runtime.Object.
func (o *Object) GetObjectKind() schema.ObjectKind { return o.whole().GetObjectKind() }

// DeepCopyObject implements runtime.Object. There is nothing that could be modified.
func (o *Object) DeepCopyObject() runtime.Object { return o }

// NameKind gives the object, and all of its form that have none and came in a list, a kind. It is
// called before others have the object.
func (o *Object) NameKind(apiVersion, kind string) {
	f := o.form
	of := metav1.TypeMeta{APIVersion: apiVersion, Kind: kind}
	if known := f.listed.Load(); known == nil || *known != of {
		f.listed.Store(&of)
	}
	if d := o.last.Load(); d != nil {
		f.nameKind(d.Whole)
	}
}

// budget is the memory of the objects in the ring, about.
const budget = 8 << 20

// recent is the ring of the program.
var recent ring

// ring is the objects that were decoded last, in order.
type ring struct {
	mu    sync.Mutex
	first int     // guarded by mu; where the oldest entry is
	all   []entry // guarded by mu
	bytes int64   // guarded by mu
}

type entry struct {
	of   *Object
	what *decoded
}

// add adds an object that was decoded, and drops the oldest ones that have no room any more.
func (r *ring) add(of *Object, what *decoded) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.all = append(r.all, entry{of, what})
	r.bytes += what.size
	for r.bytes > budget && r.first < len(r.all)-1 {
		oldest := &r.all[r.first]
		oldest.of.last.CompareAndSwap(oldest.what, nil)
		r.bytes -= oldest.what.size
		*oldest = entry{}
		r.first++
	}
	if r.first > len(r.all)/2 {
		n := copy(r.all, r.all[r.first:])
		clear(r.all[n:])
		r.all, r.first = r.all[:n], 0
	}
}
