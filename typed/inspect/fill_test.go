package inspect_test

import (
	"encoding/json"
	"reflect"
)

// fillStrings sets all strings in what v points to.
func fillStrings(v any, text string) {
	visit(reflect.ValueOf(v), "", func(_ string, s reflect.Value) {
		if s.Kind() == reflect.String {
			s.SetString(text)
		}
	})
}

// visit calls f for all strings and numbers in a value, with their paths.
func visit(v reflect.Value, path string, f func(path string, leaf reflect.Value)) {
	if v.Type() == reflect.TypeFor[json.RawMessage]() {
		return
	}
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() {
			visit(v.Elem(), path, f)
		}
	case reflect.Struct:
		for n := range v.NumField() {
			if v.Type().Field(n).IsExported() {
				visit(v.Field(n), path+"."+v.Type().Field(n).Name, f)
			}
		}
	case reflect.Slice:
		for n := range v.Len() {
			visit(v.Index(n), path+"[]", f)
		}
	default:
		f(path, v)
	}
}
