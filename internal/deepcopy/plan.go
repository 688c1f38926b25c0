package deepcopy

import (
	"maps"
	"reflect"
	"sync"
	"unsafe"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// plan is how values of a type are copied.
type plan struct {
	of reflect.Type
	// deepen copies what the value at p refers to, which was copied by an assignment; nil:
	// that is all there is to do.
	deepen func(c *copying, p unsafe.Pointer)
	ready  bool // deepen is known
}

// plans holds the plans of types. They follow from the types, so it does not matter when they
// are made, and by which goroutine.
var plans sync.Map

// planOf returns the plan of a type.
func planOf(t reflect.Type) *plan {
	if p, ok := plans.Load(t); ok {
		return p.(*plan)
	}
	b := builder{}
	p := b.plan(t)
	for t, p := range b {
		plans.LoadOrStore(t, p)
	}
	return p
}

// builder makes plans: it has those that are being made, of types that refer to each other.
type builder map[reflect.Type]*plan

func (b builder) plan(t reflect.Type) *plan {
	if p, ok := plans.Load(t); ok {
		return p.(*plan)
	}
	if p := b[t]; p != nil {
		return p
	}
	p := &plan{of: t}
	b[t] = p
	p.deepen, p.ready = b.deepener(t), true
	return p
}

// deepener returns what copies what values of a type refer to, nil if that is nothing.
func (b builder) deepener(t reflect.Type) func(c *copying, p unsafe.Pointer) {
	if t == reflect.TypeFor[metav1.ObjectMeta]() {
		return func(_ *copying, p unsafe.Pointer) {
			original := *(*metav1.ObjectMeta)(p)
			original.DeepCopyInto((*metav1.ObjectMeta)(p))
		}
	}
	if f := b.byMethod(t); f != nil {
		return f
	}
	switch t.Kind() {
	case reflect.Pointer:
		return b.pointer(t)
	case reflect.Slice:
		return b.slice(t)
	case reflect.Map:
		return b.mapping(t)
	case reflect.Interface:
		return dynamic(t)
	case reflect.Array:
		return b.array(t)
	case reflect.Struct:
		return b.structure(t)
	default:
		return nil
	}
}

func (b builder) pointer(t reflect.Type) func(c *copying, p unsafe.Pointer) {
	elem := b.plan(t.Elem())
	return func(c *copying, p unsafe.Pointer) {
		from := *(*unsafe.Pointer)(p)
		if from == nil {
			return
		}
		c.follow(reference{of: t, to: from, at: p}, func() {
			to := reflect.New(elem.of)
			to.Elem().Set(reflect.NewAt(elem.of, from).Elem())
			*(*unsafe.Pointer)(p) = to.UnsafePointer()
			if elem.deepen != nil {
				elem.deepen(c, to.UnsafePointer())
			}
		})
	}
}

func (b builder) slice(t reflect.Type) func(c *copying, p unsafe.Pointer) {
	elem := b.plan(t.Elem())
	return func(c *copying, p unsafe.Pointer) {
		v := reflect.NewAt(t, p).Elem()
		if v.IsNil() {
			return
		}
		c.follow(reference{t, v.UnsafePointer(), v.Len(), p}, func() {
			to := reflect.MakeSlice(t, v.Len(), v.Len())
			reflect.Copy(to, v)
			v.Set(to)
			elem.deepenEach(c, to.UnsafePointer(), to.Len())
		})
	}
}

func (b builder) array(t reflect.Type) func(c *copying, p unsafe.Pointer) {
	elem := b.plan(t.Elem())
	return func(c *copying, p unsafe.Pointer) { elem.deepenEach(c, p, t.Len()) }
}

// deepenEach deepens n values, one after the other.
func (p *plan) deepenEach(c *copying, first unsafe.Pointer, n int) {
	if p.deepen == nil {
		return
	}
	for i := range n {
		p.deepen(c, unsafe.Add(first, uintptr(i)*p.of.Size()))
	}
}

func (b builder) mapping(t reflect.Type) func(c *copying, p unsafe.Pointer) {
	if t.Key().Kind() == reflect.String && t.Elem().Kind() == reflect.String {
		return func(_ *copying, p unsafe.Pointer) {
			m := (*map[string]string)(p)
			*m = maps.Clone(*m)
		}
	}
	elem := b.plan(t.Elem())
	return func(c *copying, p unsafe.Pointer) {
		v := reflect.NewAt(t, p).Elem()
		if v.IsNil() {
			return
		}
		c.follow(reference{of: t, to: v.UnsafePointer(), at: p}, func() {
			to, from := reflect.MakeMapWithSize(t, v.Len()), reflect.New(t).Elem()
			from.Set(v)
			v.Set(to)
			for each := from.MapRange(); each.Next(); {
				value := reflect.New(elem.of)
				value.Elem().Set(each.Value())
				if elem.deepen != nil {
					elem.deepen(c, value.UnsafePointer())
				}
				to.SetMapIndex(each.Key(), value.Elem())
			}
		})
	}
}

// dynamic copies what is in an interface.
func dynamic(t reflect.Type) func(c *copying, p unsafe.Pointer) {
	return func(c *copying, p unsafe.Pointer) {
		v := reflect.NewAt(t, p).Elem()
		if v.IsNil() {
			return
		}
		in := planOf(v.Elem().Type())
		if in.deepen == nil {
			return
		}
		value := reflect.New(in.of)
		value.Elem().Set(v.Elem())
		in.deepen(c, value.UnsafePointer())
		v.Set(value.Elem())
	}
}

// member is a field of a struct that an assignment does not copy.
type member struct {
	offset uintptr
	*plan
}

func (b builder) structure(t reflect.Type) func(c *copying, p unsafe.Pointer) {
	var members []member
	for f := range t.Fields() {
		if !f.IsExported() && !f.Anonymous {
			continue
		}
		if of := b.plan(f.Type); of.deepen != nil || !of.ready {
			members = append(members, member{f.Offset, of})
		}
	}
	if len(members) == 0 {
		return nil
	}
	return func(c *copying, p unsafe.Pointer) {
		for _, m := range members {
			if m.deepen != nil {
				m.deepen(c, unsafe.Add(p, m.offset))
			}
		}
	}
}
