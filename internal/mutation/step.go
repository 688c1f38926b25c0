package mutation

import (
	"reflect"
	"strconv"
	"strings"
)

// step is a step on the way to a value: a field, an index or a key.
type step struct {
	of    reflect.Type // a struct, or nil
	index int
	key   string
	isKey bool
}

// String returns the step as it is written in a path, "" if a path with names in JSON leaves
// it out.
func (s step) String() string {
	switch {
	case s.of != nil:
		return nameOf(s.of.Field(s.index))
	case s.isKey:
		return "[" + s.key + "]"
	default:
		return "[" + strconv.Itoa(s.index) + "]"
	}
}

// nameOf returns the name of a field in JSON, or else in Go, "" if it is embedded.
func nameOf(field reflect.StructField) string {
	name, options, _ := strings.Cut(field.Tag.Get("json"), ",")
	of := field.Type
	if of.Kind() == reflect.Pointer {
		of = of.Elem()
	}
	switch {
	case name != "" && name != "-":
		return name
	case name == "" && (field.Anonymous && of.Kind() == reflect.Struct || strings.Contains(options, "inline")):
		return ""
	}
	return field.Name
}
