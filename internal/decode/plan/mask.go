package plan

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"unicode"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// Mask says which fields of objects are decoded, by their names in JSON. A nil Mask is one of
// all fields.
type Mask struct {
	drops bool             // it names those that are not
	names map[string]*Mask // nil: all of the field
}

// identity are the fields that no mask leaves out: what informers go by.
var identity = []string{
	"apiVersion", "kind",
	"metadata.name", "metadata.namespace", "metadata.uid", "metadata.resourceVersion", "metadata.deletionTimestamp",
}

// Only returns the mask of some fields, as paths such as "spec.nodeName", and of what
// identifies objects.
func Only(paths ...string) (*Mask, error) {
	m, err := newMask(false, paths)
	if err != nil {
		return nil, err
	}
	for _, path := range identity {
		m.add(strings.Split(path, "."))
	}
	return m, nil
}

// Without returns the mask of all fields but some, as paths such as
// "metadata.managedFields". It returns an error if one of these identifies objects.
func Without(paths ...string) (*Mask, error) {
	m, err := newMask(true, paths)
	if err != nil {
		return nil, err
	}
	for _, path := range paths {
		for _, kept := range identity {
			if kept == path || strings.HasPrefix(kept, path+".") || strings.HasPrefix(path, kept+".") {
				return nil, fmt.Errorf("the field %q identifies objects, or has %q in it that does, and cannot be left out", path, kept)
			}
		}
	}
	return m, nil
}

func newMask(drops bool, paths []string) (*Mask, error) {
	if len(paths) == 0 {
		return nil, errors.New("no fields are named")
	}
	m := &Mask{drops: drops, names: map[string]*Mask{}}
	for _, path := range paths {
		names := strings.Split(path, ".")
		if slices.Contains(names, "") {
			return nil, fmt.Errorf("the path %q has an empty name in it; write it like spec.nodeName", path)
		}
		m.add(names)
	}
	return m, nil
}

// add adds a field. All of a field has each of its fields in it.
func (m *Mask) add(path []string) {
	within, ok := m.names[path[0]]
	switch {
	case len(path) == 1:
		m.names[path[0]] = nil
	case ok && within == nil:
	default:
		if !ok {
			within = &Mask{drops: m.drops, names: map[string]*Mask{}}
			m.names[path[0]] = within
		}
		within.add(path[1:])
	}
}

// Has reports whether a field is decoded, by its path; a part of it is enough.
func (m *Mask) Has(path string) bool {
	for _, name := range strings.Split(path, ".") {
		within, decoded := m.Field(name)
		if !decoded {
			return false
		}
		m = within
	}
	return true
}

// Field reports whether a field is decoded, and returns the mask of its fields.
func (m *Mask) Field(name string) (within *Mask, decoded bool) {
	if m == nil {
		return nil, true
	}
	within, named := m.names[name]
	if m.drops {
		return within, !named || within != nil
	}
	return within, named
}

// Apply leaves the fields that are not decoded out of an object that has them: a
// pointer to a struct, or unstructured.
func (m *Mask) Apply(obj any) {
	switch obj := obj.(type) {
	case *unstructured.Unstructured:
		m.prune(obj.Object)
	default:
		m.clear(reflect.ValueOf(obj))
	}
}

func (m *Mask) prune(value any) {
	if m == nil {
		return
	}
	switch value := value.(type) {
	case map[string]any:
		for name, of := range value {
			if within, ok := m.Field(name); ok {
				within.prune(of)
			} else {
				delete(value, name)
			}
		}
	case []any:
		for _, element := range value {
			m.prune(element)
		}
	}
}

func (m *Mask) clear(value reflect.Value) {
	if m == nil {
		return
	}
	switch value.Kind() {
	case reflect.Pointer:
		if !value.IsNil() {
			m.clear(value.Elem())
		}
	case reflect.Slice:
		for i := range value.Len() {
			m.clear(value.Index(i))
		}
	case reflect.Struct:
		for f, field := range value.Fields() {
			within, decoded := m.structField(f)
			switch {
			case !InJSON(f):
			case decoded:
				within.clear(field)
			case f.IsExported():
				field.SetZero()
			default: // its fields can be set, and it cannot
				(&Mask{}).clear(field)
			}
		}
	}
}

// structField is Field for one of a struct.
func (m *Mask) structField(f reflect.StructField) (within *Mask, decoded bool) {
	name, inline := JSONName(f)
	if inline {
		return m, true
	}
	return m.Field(name)
}

// JSONName returns the name of a field in JSON, by the rules of encoding/json, which ignores
// names in tags that contain characters it does not know. It returns true if the field has no
// name, since its fields are taken for those of the struct.
func JSONName(f reflect.StructField) (name string, inline bool) {
	name, _, _ = strings.Cut(f.Tag.Get("json"), ",")
	switch {
	case name != "" && !strings.ContainsFunc(name, isNoName):
		return name, false
	case f.Anonymous && deref(f.Type).Kind() == reflect.Struct:
		return "", true
	default:
		return f.Name, false
	}
}

// InJSON reports whether encoding/json decodes a field: one that is exported, or an embedded struct.
func InJSON(f reflect.StructField) bool {
	return f.IsExported() || f.Anonymous && deref(f.Type).Kind() == reflect.Struct
}

// isNoName reports whether a character makes a name one that encoding/json does not take.
func isNoName(r rune) bool {
	return !strings.ContainsRune("!#$%&()*+-./:;<=>?@[]^_{|}~ ", r) && !unicode.IsLetter(r) && !unicode.IsDigit(r)
}

// Check returns an error for a path that leads nowhere in objects of a type, with the
// name that is nearest to the one that is not there. It knows nothing of objects that
// are unstructured.
func (m *Mask) Check(of reflect.Type) error {
	if of == reflect.TypeFor[*unstructured.Unstructured]() {
		return nil
	}
	return m.check(of, "")
}

func (m *Mask) check(of reflect.Type, path string) error {
	if m == nil {
		return nil
	}
	seen := map[reflect.Type]bool{} // a slice may be one of itself
	for (of.Kind() == reflect.Pointer || of.Kind() == reflect.Slice) && !seen[of] {
		seen[of] = true
		of = of.Elem()
	}
	var known []string
	fields := map[string]reflect.Type{}
	collect(of, func(name string, field reflect.Type) {
		if _, hidden := fields[name]; !hidden {
			known, fields[name] = append(known, name), field
		}
	})
	for _, name := range slices.Sorted(maps.Keys(m.names)) {
		field, ok := fields[name]
		switch {
		case ok:
			if err := m.names[name].check(field, path+name+"."); err != nil {
				return err
			}
		case path == "" && (name == "apiVersion" || name == "kind"): // a type that keeps none
		case len(known) == 0:
			return fmt.Errorf("no field %q: a field that is no struct is decoded as a whole", path+name)
		case !slices.Contains(identity, path+name):
			return fmt.Errorf("no field %q: the nearest is %q", path+name, path+nearest(name, known))
		}
	}
	return nil
}

// collect calls a function for the fields of a struct, and then for those of the structs that it
// embeds, the least deeply first: they are hidden by fields of the same name that came before.
func collect(of reflect.Type, found func(name string, field reflect.Type)) {
	known := map[reflect.Type]bool{}
	for level := []reflect.Type{of}; len(level) > 0; {
		var deeper []reflect.Type
		for _, of := range level {
			if known[of] || of.Kind() != reflect.Struct || reflect.PointerTo(of).Implements(reflect.TypeFor[json.Unmarshaler]()) {
				continue // in JSON, it is no object of its fields
			}
			known[of] = true
			for f := range of.Fields() {
				name, inline := JSONName(f)
				switch {
				case name == "-" || !InJSON(f):
				case inline:
					deeper = append(deeper, deref(f.Type))
				default:
					found(name, f.Type)
				}
			}
		}
		level = deeper
	}
}

// nearest returns the name that it takes the fewest changes to turn another one into.
func nearest(name string, known []string) string {
	return slices.MinFunc(known, func(a, b string) int { return distance(name, a) - distance(name, b) })
}

// distance is Levenshtein's, of letters of any case.
func distance(a, b string) int {
	a, b = strings.ToLower(a), strings.ToLower(b)
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		last := row[0]
		row[0] = i + 1
		for j := range len(b) {
			change := last
			if a[i] != b[j] {
				change++
			}
			last = row[j+1]
			row[j+1] = min(change, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}
