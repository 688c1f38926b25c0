package plan

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/kubetyped/informer/internal/decode/parts"
)

// jsonField is a field of a struct, or of one that it embeds, as JSON has it.
type jsonField struct {
	name                string
	index               []int
	offset              uintptr
	of                  reflect.Type
	tagged              bool // the name is from a tag
	omitEmpty, omitZero bool
}

// jsonFields returns the fields of a struct by the names that they have in JSON, by the rules
// of encoding/json: of those of one name, the one that is embedded least deeply, or else that
// has a tag; none, if there are two of these. It returns an error for fields and tags that no
// struct like those of the API has.
func jsonFields(of reflect.Type) (map[string]jsonField, error) {
	found := map[string]jsonField{}
	for level := []jsonField{{of: of}}; len(level) > 0; {
		var deeper []jsonField
		here := map[string][]jsonField{}
		for _, outer := range level {
			for i := range outer.of.NumField() {
				f, embedded, err := outer.field(i)
				switch {
				case err != nil:
					return nil, fmt.Errorf("%v.%s: %w", outer.of, outer.of.Field(i).Name, err)
				case embedded:
					deeper = append(deeper, f)
				case f.name != "":
					here[f.name] = append(here[f.name], f)
				}
			}
		}
		for name, fields := range here {
			if _, hidden := found[name]; !hidden {
				found[name] = dominant(fields)
			}
		}
		level = deeper
	}
	maps.DeleteFunc(found, func(_ string, f jsonField) bool { return f.name == "" })
	return found, nil
}

// field returns a field of an embedded struct. It has no name if it is not in JSON.
func (outer jsonField) field(i int) (f jsonField, embedded bool, err error) {
	in := outer.of.Field(i)
	tag := in.Tag.Get("json")
	name, options, _ := strings.Cut(tag, ",")
	f = jsonField{name: name, offset: outer.offset + in.Offset, of: in.Type, tagged: name != ""}
	f.index = append(append(f.index, outer.index...), i)
	isStruct := in.Type.Kind() == reflect.Struct
	switch {
	case tag == "-":
		return jsonField{}, false, nil
	case in.Anonymous && in.Type.Kind() == reflect.Pointer:
		return f, false, fmt.Errorf("a %v is embedded", in.Type)
	case in.Anonymous && name == "" && isStruct:
		return f, true, nil
	case !in.IsExported() && !(in.Anonymous && isStruct):
		return jsonField{}, false, nil
	case strings.ContainsFunc(name, unusual):
		return f, false, fmt.Errorf("the name %q is unusual", name)
	case name == "":
		f.name = in.Name
	}
	for option := range strings.SplitSeq(options, ",") {
		switch option {
		case "", "inline":
		case "omitempty":
			f.omitEmpty = true
		case "omitzero":
			f.omitZero = true
		default:
			return f, false, fmt.Errorf("the option %q of its tag is not known", option)
		}
	}
	return f, false, nil
}

// unusual reports whether a letter is not one of names in the API.
func unusual(r rune) bool {
	return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && !strings.ContainsRune("_-$.", r)
}

// dominant returns the one of some fields of one name, embedded equally deeply, that
// JSON has; one without a name if it has none of them.
func dominant(fields []jsonField) jsonField {
	tagged := slices.DeleteFunc(slices.Clone(fields), func(f jsonField) bool { return !f.tagged })
	if len(tagged) > 0 {
		fields = tagged
	}
	if len(fields) > 1 {
		return jsonField{}
	}
	return fields[0]
}

// unnamed returns the memory of a struct that is not that of fields, given by where
// they begin.
func unnamed(of reflect.Type, at uintptr, fields map[uintptr]bool) (left []parts.Memory) {
	for f := range of.Fields() {
		offset := at + f.Offset
		switch {
		case f.Type.Size() == 0:
		case fields[offset] && !isInlined(f):
		case isInlined(f):
			left = append(left, unnamed(f.Type, offset, fields)...)
		default:
			left = append(left, parts.MemoryOf(at, f))
		}
	}
	return left
}

// isInlined reports whether the fields of a field are taken for those of its struct.
func isInlined(f reflect.StructField) bool {
	name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
	return f.Anonymous && name == "" && f.Type.Kind() == reflect.Struct
}
