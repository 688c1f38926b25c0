// Package argument checks arguments of exported functions: options, which it applies, nil values,
// keys of maps, fake clients, and kinds without a namespace.
package argument

import (
	"errors"
	"reflect"
)

// ApplyOptions calls each option with the configuration to change. It returns the errors of all of
// them, joined; a nil option is one.
func ApplyOptions[C any, O ~func(*C) error](to *C, opts []O) error {
	var errs []error
	for _, opt := range opts {
		if opt == nil {
			errs = append(errs, errors.New("option is nil"))
		} else {
			errs = append(errs, opt(to))
		}
	}
	return errors.Join(errs...)
}

// IsNil reports whether an argument is nil, or an interface that holds a nil pointer.
func IsNil(argument any) bool {
	if argument == nil {
		return true
	}
	switch of := reflect.ValueOf(argument); of.Kind() {
	case reflect.Pointer, reflect.Map, reflect.Func, reflect.Interface, reflect.Slice, reflect.Chan:
		return of.IsNil()
	default:
		return false
	}
}
