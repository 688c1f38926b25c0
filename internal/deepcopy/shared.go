package deepcopy

import (
	"cmp"
	"fmt"
	"reflect"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Shared reports whether there is memory that can be modified through both values, and where:
// as the path of a field, such as "Status.Conditions", "" for all. It looks at fields of
// structs and keys of maps of the first level only where wanted, which is given their names in
// JSON, is true. It leaves out memory behind unexported fields, functions and channels,
// managed fields, and slices without elements. Neither value may have cycles.
func Shared[T any](a, b T, wanted func(name string) bool) (path string, shared bool) {
	var of memory
	visitor{wanted, of.add}.visit(reflect.ValueOf(&a).Elem(), nil)
	of.sort()
	visitor{wanted, func(x block) bool {
		if !shared && of.overlaps(x) {
			path, shared = strings.Join(x.path, "."), true
		}
		return !shared
	}}.visit(reflect.ValueOf(&b).Elem(), nil)
	return path, shared
}

// block is memory that a value refers to.
type block struct {
	start, end uintptr
	path       []string
}

// memory is all that a value refers to: blocks by their starts, each with the latest end up to it.
type memory []block

func (m *memory) add(x block) (goOn bool) {
	*m = append(*m, block{start: x.start, end: x.end})
	return true
}

func (m memory) sort() {
	slices.SortFunc(m, func(a, b block) int { return cmp.Compare(a.start, b.start) })
	for i := 1; i < len(m); i++ {
		m[i].end = max(m[i].end, m[i-1].end)
	}
}

// overlaps reports whether a block has a part in common with any of these.
func (m memory) overlaps(x block) bool {
	after, _ := slices.BinarySearchFunc(m, x.end, func(of block, end uintptr) int { return cmp.Compare(of.start, end) })
	return after > 0 && m[after-1].end > x.start
}

// visitor calls found for all that a value refers to, as long as that returns true.
type visitor struct {
	wanted func(name string) bool
	found  func(b block) (goOn bool)
}

var managedFields = reflect.TypeFor[[]metav1.ManagedFieldsEntry]()

// visit visits the memory that a value refers to, and reports whether to continue. The path is
// that of the field that the value is in.
func (w visitor) visit(v reflect.Value, path []string) (goOn bool) {
	t := v.Type()
	if t == managedFields || planOf(t).deepen == nil {
		return true
	}
	switch v.Kind() {
	case reflect.Interface:
		return v.IsNil() || w.visit(v.Elem(), path)
	case reflect.Pointer:
		return v.IsNil() || w.pass(v, t.Elem().Size(), path) && w.visit(v.Elem(), path)
	case reflect.Slice:
		return v.Len() == 0 || w.pass(v, uintptr(v.Len())*t.Elem().Size(), path) && w.visitEach(v, path)
	case reflect.Array:
		return w.visitEach(v, path)
	case reflect.Map:
		return v.IsNil() || w.pass(v, 1, path) && w.visitMap(v, path)
	case reflect.Struct:
		return w.visitFields(v, path)
	}
	return true
}

// pass passes on the memory that a pointer, slice or map refers to.
func (w visitor) pass(v reflect.Value, size uintptr, path []string) bool {
	start := uintptr(v.UnsafePointer())
	return size == 0 || w.found(block{start, start + size, path})
}

func (w visitor) visitEach(v reflect.Value, path []string) bool {
	if planOf(v.Type().Elem()).deepen == nil {
		return true
	}
	for i := range v.Len() {
		if !w.visit(v.Index(i), path) {
			return false
		}
	}
	return true
}

func (w visitor) visitMap(v reflect.Value, path []string) bool {
	for each := v.MapRange(); each.Next(); {
		key := fmt.Sprint(each.Key())
		if len(path) == 0 && !w.wanted(key) {
			continue
		}
		if !w.visit(each.Value(), append(path[:len(path):len(path)], key)) {
			return false
		}
	}
	return true
}

func (w visitor) visitFields(v reflect.Value, path []string) bool {
	for f, field := range v.Fields() {
		if !f.IsExported() && !f.Anonymous {
			continue
		}
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		below := append(path[:len(path):len(path)], f.Name)
		switch {
		case len(path) > 0:
		case f.Anonymous && name == "": // its fields are of this level
			below = path
		case !w.wanted(cmp.Or(name, f.Name)):
			continue
		}
		if !w.visit(field, below) {
			return false
		}
	}
	return true
}
