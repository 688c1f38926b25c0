package kube

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubetyped/informer/index"
	"github.com/kubetyped/informer/internal/decode/packed"
	"github.com/kubetyped/informer/internal/decode/wire"
	"github.com/kubetyped/informer/internal/heapsize"
)

// Packed is an object of type T as the bytes that the server sent, with its key, UID, version
// and deletion timestamp. It is for objects that are many, and of which a program looks at a
// few fields of most and at all fields of few: a Pod takes a kilobyte rather than fifteen.
// FromREST makes it, alone or embedded in your own struct, whose other fields are decoded when
// the object arrives; T names the kind:
//
//	type Pod struct {
//		kube.Packed[*corev1.Pod]
//		Spec struct {
//			NodeName string `json:"nodeName"`
//		} `json:"spec"`
//	}
//
//	pods := typed.NewInformer(kube.FromREST[*Pod](config))
//
// Indexes, predicates and selectors read the named fields. [Packed.Object] decodes all.
//
// Objects whose names begin alike, as those of the Pods of a ReplicaSet do, are kept as their
// difference from the first of them. Whatever is in them, they take at most 2.5 times their
// bytes and 200 more.
//
// T is any type that FromREST can decode, *unstructured.Unstructured and
// *metav1.PartialObjectMetadata with WithResource. Only the fields that are named are checked
// when an object arrives; what is wrong with the rest is an error of Object. WithFields cannot
// be used, and other sources than FromREST return an error: their objects come without bytes.
//
// If your struct embeds metav1.ObjectMeta, too, write the getters that both have.
type Packed[T any] struct {
	packedMetadata `json:"metadata"`

	bytes packed.Record
	from  *packing[T] // nil: there are no bytes
	event bool        // it came with its kind, which is not in the bytes in protobuf
}

// packedMetadata is what identifies an object.
type packedMetadata struct {
	Name              string       `json:"name"`
	Namespace         string       `json:"namespace"`
	UID               types.UID    `json:"uid"`
	ResourceVersion   string       `json:"resourceVersion"`
	DeletionTimestamp *metav1.Time `json:"deletionTimestamp"`
}

// GetName returns the name of the object.
func (p *Packed[T]) GetName() string { return p.Name }

// GetNamespace returns the namespace of the object, "" if it has none.
func (p *Packed[T]) GetNamespace() string { return p.Namespace }

// GetUID returns the UID of the object.
func (p *Packed[T]) GetUID() types.UID { return p.UID }

// GetResourceVersion returns the version of the object.
func (p *Packed[T]) GetResourceVersion() string { return p.ResourceVersion }

// GetDeletionTimestamp returns when the object was asked to be deleted, nil if it was not. The
// time must not be modified.
func (p *Packed[T]) GetDeletionTimestamp() *metav1.Time { return p.DeletionTimestamp }

// Object decodes the object each time that it is called: it is the caller's, who may modify it. It is what
// FromREST[T] has with the same options and without deduplication. The error names the object:
// its bytes cannot be decoded into a T, or it was not made by FromREST and has none. Several
// goroutines may call it at once.
func (p *Packed[T]) Object() (T, error) {
	var obj T
	if p.from == nil {
		return obj, fmt.Errorf("%T has no bytes: it was not made by FromREST", p)
	}
	defer p.from.counts.Since(time.Now())
	var kind schema.GroupVersionKind
	if p.event {
		kind = p.from.sent
	}
	err := p.bytes.Read(func(bytes []byte) (err error) {
		obj, err = wire.ItemOfKind(p.from.codec, bytes, kind)
		return err
	})
	if err != nil {
		return *new(T), fmt.Errorf("decode packed %v %s: %w", reflect.TypeFor[T](), index.Key{Namespace: p.Namespace, Name: p.Name}, err)
	}
	p.from.stamp(obj)
	return obj, nil
}

// AddPacked adds what the object takes to a sum, for Informer.EstimateHeap.
func (p *Packed[T]) AddPacked(to *heapsize.PackedSum) {
	p.bytes.Add(to)
	if p.from != nil {
		p.from.counts.Add(to)
	}
}

// packing is what all packed objects of a codec have in common.
type packing[T any] struct {
	store *packed.Store
	codec wire.Codec[T]
	sent  schema.GroupVersionKind // of the objects of events; zero: not known

	counts packed.Decoded
	kind   atomic.Pointer[schema.GroupVersionKind] // of the objects; nil: not asked for, or not known
}

// SharedByObjects keeps the packing out of the memory that an object is said to take, see
// heapsize.Shared.
func (*packing[T]) SharedByObjects() {}

// packable is an object that is or embeds a Packed: the methods are promoted.
type packable interface {
	// packs returns the type of the object that is packed.
	packs() reflect.Type
	// newPacker returns what packs objects that come in a format, see packing.pack.
	newPacker(mediaType string, api *wire.API) (func(obj, before index.Object, bytes []byte), error)
	// nameKind notes the kind that objects of the same codec are to have.
	nameKind(kind schema.GroupVersionKind, all bool)
	// asEvent notes that the object came as an event.
	asEvent()
}

// holder is a packable of a T.
type holder[T any] interface{ packed() *Packed[T] }

func (p *Packed[T]) packed() *Packed[T] { return p }

func (*Packed[T]) packs() reflect.Type { return reflect.TypeFor[T]() }

func (*Packed[T]) newPacker(mediaType string, api *wire.API) (func(obj, before index.Object, bytes []byte), error) {
	codec, err := wire.NewCodec[T](mediaType, api, nil, nil)
	by := &packing[T]{store: packed.NewStore(), codec: codec}
	if api != nil {
		by.sent = api.Kind
	}
	return by.pack, err
}

func (p *Packed[T]) asEvent() { p.event = true }

// nameKind implements packable. Unless all is set, only objects without a kind get it.
func (p *Packed[T]) nameKind(kind schema.GroupVersionKind, all bool) {
	if p.from == nil || isUnstructured(reflect.TypeFor[T]()) == all {
		return
	}
	if known := p.from.kind.Load(); known == nil || *known != kind {
		p.from.kind.Store(&kind)
	}
}

// pack gives an object its bytes. Before is an earlier state of it, or nil.
func (p *packing[T]) pack(obj, before index.Object, bytes []byte) {
	holds, ok := obj.(holder[T])
	if !ok {
		return
	}
	into := holds.packed()
	var record packed.Record
	if earlier, ok := before.(holder[T]); ok {
		record = earlier.packed().bytes
	}
	into.from = p
	into.bytes = p.store.Pack(obj.GetNamespace(), obj.GetName(), bytes, record)
	if into.Name == "" {
		into.identify(obj)
	}
}

// packingCodec returns a codec whose objects are given their bytes, if they are to have them.
func packingCodec[T index.Object](codec wire.Codec[T], mediaType string, api *wire.API, held wire.Held[T]) (wire.Codec[T], error) {
	p := packedIn(reflect.TypeFor[T]())
	if p == nil {
		return codec, nil
	}
	pack, err := p.newPacker(mediaType, api)
	if err != nil {
		return nil, err
	}
	return wire.Packing(codec, func(obj T, bytes []byte) {
		var before index.Object
		if held != nil {
			if earlier, ok := held(obj.GetNamespace(), obj.GetName()); ok {
				before = earlier
			}
		}
		pack(obj, before, bytes)
	}), nil
}

// identify copies the metadata of an object that embeds an ObjectMeta, too.
func (p *Packed[T]) identify(obj index.Object) {
	p.Namespace, p.Name = obj.GetNamespace(), obj.GetName()
	if o, ok := obj.(interface{ GetUID() types.UID }); ok {
		p.UID = o.GetUID()
	}
	if o, ok := obj.(versionGetter); ok {
		p.ResourceVersion = o.GetResourceVersion()
	}
	if o, ok := obj.(interface{ GetDeletionTimestamp() *metav1.Time }); ok {
		p.DeletionTimestamp = o.GetDeletionTimestamp()
	}
}

// stamp sets the kind of an object as FromREST does.
func (p *packing[T]) stamp(obj T) {
	kind := p.kind.Load()
	switch o := any(obj).(type) {
	case *unstructured.Unstructured:
		if kind != nil && o.GetKind() == "" && o.GetAPIVersion() == "" {
			o.SetGroupVersionKind(*kind)
		}
	case kinded:
		if kind == nil {
			kind = &schema.GroupVersionKind{}
		}
		o.GetObjectKind().SetGroupVersionKind(*kind)
	}
}

// namePacked has packed unstructured objects without a kind have the one that the list is of.
func namePacked[T index.Object](list *wrappedList) {
	for _, item := range list.Items {
		var obj any = item
		if w, ok := item.(*wrapper[T]); ok {
			if w.isInvalid() {
				continue // there is no object
			}
			obj = w.object
		}
		p, ok := obj.(packable)
		if !ok {
			return
		}
		p.nameKind(schema.FromAPIVersionAndKind(list.APIVersion, strings.TrimSuffix(list.Kind, "List")), false)
	}
}

// packedIn returns the Packed that objects of a type are or embed, nil if they do not.
func packedIn(of reflect.Type) packable {
	if of.Kind() != reflect.Pointer || checkPacked(of) != nil {
		return nil
	}
	p, _ := reflect.New(of.Elem()).Interface().(packable)
	return p
}

// kindType returns the type that names the kind of objects of a type: what they pack, or itself.
func kindType(of reflect.Type) reflect.Type {
	if p := packedIn(of); p != nil {
		return p.packs()
	}
	return of
}

func isUnstructured(of reflect.Type) bool { return of == reflect.TypeFor[*unstructured.Unstructured]() }

// isOfAnyKind reports whether a type is for objects of any kind.
func isOfAnyKind(of reflect.Type) bool { return isUnstructured(of) || isMetadata(of) }

// mediaTypes returns what objects of type T, and those that they pack, can be decoded from.
func mediaTypes[T index.Object](api *wire.API) ([]string, error) {
	found, err := wire.MediaTypes[T](api)
	p := packedIn(reflect.TypeFor[T]())
	if err != nil || p == nil {
		return found, err
	}
	return slices.DeleteFunc(found, func(mediaType string) bool {
		_, err := p.newPacker(mediaType, api)
		return err != nil
	}), nil
}

var packableType = reflect.TypeFor[packable]()

// checkPacked returns an error if a pointer to a struct has a Packed that would stay empty.
func checkPacked(of reflect.Type) error {
	if of.Elem().Kind() != reflect.Struct || of.Elem().PkgPath() == packableType.PkgPath() {
		return nil
	}
	found := 0
	for field := range of.Elem().Fields() {
		switch {
		case field.Type.Kind() == reflect.Pointer && field.Type.Implements(packableType):
			return fmt.Errorf("the field %s is a pointer to a Packed, and would stay nil: embed the struct", field.Name)
		case !reflect.PointerTo(field.Type).Implements(packableType):
		case !field.Anonymous:
			return fmt.Errorf("the field %s is a Packed, and would stay empty: embed it", field.Name)
		default:
			found++
		}
	}
	switch {
	case found > 1:
		return errors.New("two fields are a Packed: embed one")
	case found == 1 && !of.Implements(packableType):
		return errors.New("a method hides one of the Packed that it embeds: rename it")
	}
	return nil
}
