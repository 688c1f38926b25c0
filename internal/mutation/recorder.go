package mutation

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"math"
	"reflect"
	"slices"
	"sync"
	"time"
	"unsafe"
)

// maxDepth is how deep a value is looked into. A value that is deeper, as in one that refers
// to itself, is recorded as its address.
const maxDepth = 100

// Recorder makes records and compares values with them. It is safe for concurrent
// use; the zero value is ready.
type Recorder struct {
	mu    sync.RWMutex
	ids   map[reflect.Type]uint64 // guarded by mu; of types in interfaces
	types []reflect.Type          // guarded by mu; by ID
}

// buffers are what records are written into first.
var buffers = sync.Pool{New: func() any { return new([]byte) }}

// Record returns the record of a value, which only this Recorder can read.
func (r *Recorder) Record(value any) []byte {
	buf := buffers.Get().(*[]byte)
	defer buffers.Put(buf)
	e := encoder{r: r, data: (*buf)[:0]}
	if v := reflect.ValueOf(value); v.IsValid() {
		e.value(v, 0)
	}
	*buf = e.data
	return bytes.Clone(e.data) // as long as it has to be
}

// id returns a number for a type.
func (r *Recorder) id(t reflect.Type) uint64 {
	r.mu.RLock()
	id, ok := r.ids[t]
	r.mu.RUnlock()
	if ok {
		return id
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if id, ok := r.ids[t]; ok {
		return id
	}
	if r.ids == nil {
		r.ids = map[reflect.Type]uint64{}
	}
	id = uint64(len(r.types))
	r.ids[t], r.types = id, append(r.types, t)
	return id
}

// typeOf returns the type of a number.
func (r *Recorder) typeOf(id uint64) reflect.Type {
	r.mu.RLock()
	defer r.mu.RUnlock()
	return r.types[id]
}

// encoder writes a record.
type encoder struct {
	r    *Recorder
	data []byte
}

var timeType = reflect.TypeFor[time.Time]()

func (e *encoder) uint(n uint64) { e.data = binary.AppendUvarint(e.data, n) }

// any writes what an interface holds: nothing, or a type and a value.
func (e *encoder) any(v reflect.Value, depth int) {
	if !v.IsValid() {
		e.uint(0)
		return
	}
	e.uint(1 + e.r.id(v.Type()))
	e.value(v, depth)
}

func (e *encoder) value(v reflect.Value, depth int) {
	if depth++; depth > maxDepth {
		e.uint(addressOf(v))
		return
	}
	switch v.Kind() {
	case reflect.String:
		e.uint(uint64(v.Len()))
		e.data = append(e.data, v.String()...)
	case reflect.Struct:
		if at := timeOf(v); at != nil {
			e.time(at)
			return
		}
		for i := range v.NumField() {
			e.value(v.Field(i), depth)
		}
	case reflect.Pointer:
		if opaque(v.Type()) || v.IsNil() {
			e.uint(addressOf(v))
			return
		}
		e.uint(1)
		e.value(v.Elem(), depth)
	case reflect.Interface:
		e.any(v.Elem(), depth)
	case reflect.Slice:
		e.slice(v, depth)
	case reflect.Array:
		for i := range v.Len() {
			e.value(v.Index(i), depth)
		}
	case reflect.Map:
		e.mapping(v, depth)
	default:
		e.uint(scalar(v))
	}
}

// slice writes 0 for nil, or else the length and one, and the elements.
func (e *encoder) slice(v reflect.Value, depth int) {
	if v.IsNil() {
		e.uint(0)
		return
	}
	e.uint(uint64(v.Len()) + 1)
	if v.Type().Elem().Kind() == reflect.Uint8 {
		e.data = append(e.data, v.Bytes()...)
		return
	}
	for i := range v.Len() {
		e.value(v.Index(i), depth)
	}
}

// mapping writes 0 for nil, or else the length and one, and keys and values in the
// order of keys.
func (e *encoder) mapping(v reflect.Value, depth int) {
	if v.IsNil() {
		e.uint(0)
		return
	}
	entries := e.r.entriesOf(v, depth)
	e.uint(uint64(len(entries)) + 1)
	for _, entry := range entries {
		e.uint(uint64(len(entry.key)))
		e.data = append(e.data, entry.key...)
		e.value(entry.value, depth)
	}
}

// time writes a time as seconds, nanoseconds and the offset of its zone.
func (e *encoder) time(at *time.Time) {
	_, offset := at.Zone()
	e.uint(uint64(at.Unix()))
	e.uint(uint64(at.Nanosecond()))
	e.uint(uint64(offset))
}

// entry is an entry of a map, with its key as a record.
type entry struct {
	key   string
	value reflect.Value
}

// entriesOf returns the entries of a map in the order of their keys.
func (r *Recorder) entriesOf(v reflect.Value, depth int) []entry {
	entries := make([]entry, 0, v.Len())
	for each := v.MapRange(); each.Next(); {
		key := each.Key()
		if key.Kind() == reflect.String {
			entries = append(entries, entry{key.String(), each.Value()})
			continue
		}
		e := encoder{r: r}
		e.value(key, depth)
		entries = append(entries, entry{string(e.data), each.Value()})
	}
	slices.SortFunc(entries, func(a, b entry) int { return cmp.Compare(a.key, b.key) })
	return entries
}

// opaque reports whether a record leaves out the values that pointers of a type point to: they
// belong to other code.
func opaque(t reflect.Type) bool {
	return t == reflect.TypeFor[*time.Location]() || t.Implements(shared)
}

// shared is what a pointer implements to what all objects have in common, see heapsize.Shared.
var shared = reflect.TypeFor[interface{ SharedByObjects() }]()

// timeOf returns the time that a value is, nil if it is none. Times that have no
// address, such as those in maps, are copied.
func timeOf(v reflect.Value) *time.Time {
	switch {
	case v.Type() != timeType:
		return nil
	case v.CanAddr():
		return (*time.Time)(v.Addr().UnsafePointer())
	}
	own := reflect.New(timeType)
	for i := range v.NumField() {
		from, to := v.Field(i), own.Elem().Field(i)
		switch to := reflect.NewAt(to.Type(), to.Addr().UnsafePointer()).Elem(); to.Kind() {
		case reflect.Uint64:
			to.SetUint(from.Uint())
		case reflect.Int64:
			to.SetInt(from.Int())
		case reflect.Pointer:
			to.Set(reflect.NewAt(to.Type().Elem(), from.UnsafePointer()))
		}
	}
	return (*time.Time)(own.UnsafePointer())
}

// scalar returns a value that is neither text nor made of others as a number.
func scalar(v reflect.Value) uint64 {
	switch v.Kind() {
	case reflect.Bool:
		if v.Bool() {
			return 1
		}
		return 0
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return uint64(v.Int()<<1) ^ uint64(v.Int()>>63)
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64, reflect.Uintptr:
		return v.Uint()
	case reflect.Float32, reflect.Float64:
		return math.Float64bits(v.Float())
	case reflect.Complex64, reflect.Complex128:
		return math.Float64bits(real(v.Complex())) ^ bits(imag(v.Complex()))
	default:
		return addressOf(v)
	}
}

func bits(f float64) uint64 { return math.Float64bits(f) * 0x9e3779b97f4a7c15 }

// addressOf returns where a reference points to, 0 for nil and for values that
// refer to nothing.
func addressOf(v reflect.Value) uint64 {
	switch v.Kind() {
	case reflect.Pointer, reflect.Map, reflect.Slice, reflect.Func, reflect.Chan, reflect.UnsafePointer:
		return uint64(uintptr(v.UnsafePointer()))
	case reflect.String:
		return uint64(uintptr(unsafe.Pointer(unsafe.StringData(v.String()))))
	default:
		return 0
	}
}
