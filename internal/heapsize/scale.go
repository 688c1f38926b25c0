// Package heapsize measures how much memory objects take: a walk over everything that they
// refer to. What several of them share is counted once.
package heapsize

import (
	"math/bits"
	"reflect"
	"slices"
	"sync"
	"time"
	"unsafe"
)

// Scale adds up the memory of objects. It is for one goroutine.
type Scale struct {
	added int
	bytes int64
	seen  map[unsafe.Pointer]struct{} // what was counted
	refer map[reflect.Type]references
}

// references says where values of a type may refer to other memory.
type references struct {
	any    bool
	fields []int // of a struct
}

// Shared is what a pointer implements that is not followed: all objects have what it points to in
// common, and none takes memory for it.
type Shared interface{ SharedByObjects() }

var shared = reflect.TypeFor[Shared]()

// NewScale returns a Scale with nothing on it.
func NewScale() *Scale {
	return &Scale{seen: map[unsafe.Pointer]struct{}{}, refer: map[reflect.Type]references{}}
}

// Add adds an object, with all that it refers to unless an object that was added before does,
// too. Maps are estimated, functions and channels are not counted. The object must not be
// modified meanwhile.
func (s *Scale) Add(obj any) {
	s.added++
	if v := reflect.ValueOf(obj); v.IsValid() {
		if v.Kind() != reflect.Pointer {
			s.bytes += rounded(v.Type().Size())
		}
		s.follow(v)
	}
}

// Added returns how many objects were added.
func (s *Scale) Added() int { return s.added }

// Bytes returns the memory of all of them, as the allocator has rounded it.
func (s *Scale) Bytes() int64 { return s.bytes }

// isNew reports whether at is counted for the first time.
func (s *Scale) isNew(at unsafe.Pointer) bool {
	if at == nil {
		return false
	}
	if _, seen := s.seen[at]; seen {
		return false
	}
	s.seen[at] = struct{}{}
	return true
}

var location = reflect.TypeFor[*time.Location]() // one for all times

// follow adds what v refers to, but not v itself.
func (s *Scale) follow(v reflect.Value) {
	switch v.Kind() {
	case reflect.Pointer:
		if v.Type() != location && s.isNew(v.UnsafePointer()) {
			s.bytes += rounded(v.Type().Elem().Size())
			s.follow(v.Elem())
		}
	case reflect.Interface:
		inside := v.Elem()
		if !inside.IsValid() {
			return
		}
		if k := inside.Kind(); k != reflect.Pointer && k != reflect.Map {
			s.bytes += rounded(inside.Type().Size())
		}
		s.follow(inside)
	case reflect.String:
		if text := v.String(); s.isNew(unsafe.Pointer(unsafe.StringData(text))) && len(text) > 0 {
			s.bytes += rounded(uintptr(len(text)))
		}
	case reflect.Slice:
		s.followSlice(v)
	case reflect.Map:
		s.followMap(v)
	case reflect.Struct:
		for _, field := range s.references(v.Type()).fields {
			s.follow(v.Field(field))
		}
	case reflect.Array:
		s.followElements(v)
	}
}

func (s *Scale) followSlice(v reflect.Value) {
	if v.Cap() == 0 || !s.isNew(v.UnsafePointer()) {
		return
	}
	s.bytes += rounded(uintptr(v.Cap()) * v.Type().Elem().Size())
	s.followElements(v)
}

func (s *Scale) followElements(v reflect.Value) {
	if !s.references(v.Type().Elem()).any {
		return
	}
	for i := range v.Len() {
		s.follow(v.Index(i))
	}
}

// mapHeader is the size of what a map variable points at, and groupSlots how many entries
// are in one of its groups, up to seven eighths of which are used, see internal/runtime/maps.
const (
	mapHeader  = 48
	groupSlots = 8
)

func (s *Scale) followMap(v reflect.Value) {
	if v.IsNil() || !s.isNew(v.UnsafePointer()) {
		return
	}
	key, value := v.Type().Key(), v.Type().Elem()
	slots := groupSlots
	if n := v.Len(); n > groupSlots {
		slots = 1 << bits.Len(uint(n*groupSlots/(groupSlots-1)-1))
	}
	align := uintptr(max(key.Align(), value.Align()))
	slot := (key.Size() + value.Size() + align - 1) / align * align
	group := 8 + groupSlots*slot
	s.bytes += mapHeader + rounded(uintptr(slots/groupSlots)*group)
	if !s.references(key).any && !s.references(value).any {
		return
	}
	for entries := v.MapRange(); entries.Next(); {
		s.follow(entries.Key())
		s.follow(entries.Value())
	}
}

// references returns where values of a type may refer to something.
func (s *Scale) references(t reflect.Type) references {
	r, known := s.refer[t]
	if known {
		return r
	}
	switch t.Kind() {
	case reflect.Array:
		r.any = s.references(t.Elem()).any
	case reflect.Struct:
		for i := range t.NumField() {
			if s.references(t.Field(i).Type).any {
				r.fields = append(r.fields, i)
			}
		}
		r.any = len(r.fields) > 0
	case reflect.Pointer:
		r.any = !t.Implements(shared)
	default:
		r.any = t.Kind() > reflect.Complex128
	}
	s.refer[t] = r
	return r
}

// rounded returns how much memory the allocator takes for a value of some bytes.
func rounded(size uintptr) int64 {
	if size == 0 {
		return 0
	}
	classes := sizeClasses()
	if largest := classes[len(classes)-1]; int64(size) > largest {
		const page = 8 << 10
		return (int64(size) + page - 1) / page * page
	}
	at, _ := slices.BinarySearch(classes, int64(size))
	return classes[at]
}

// sizeClasses returns the sizes of memory that the allocator has, up to 32 KiB, as the
// capacities of grown slices show them.
var sizeClasses = sync.OnceValue(func() (classes []int64) {
	for size := 1; size <= 32<<10; {
		class := cap(append([]byte(nil), make([]byte, size)...))
		classes = append(classes, int64(class))
		size = class + 1
	}
	return classes
})
