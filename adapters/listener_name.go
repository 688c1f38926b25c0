package adapters

import (
	"fmt"
	"reflect"
	"runtime"
	"slices"
	"strings"

	"k8s.io/client-go/tools/cache"
)

// handlerName returns a name for logs and DoneCheckers: where the functions of a
// cache.ResourceEventHandlerFuncs are from, and otherwise the handler's type.
func handlerName(handler any) string {
	name := ""
	switch h := handler.(type) {
	case cache.ResourceEventHandlerFuncs:
		name = functionsName(h.AddFunc, h.UpdateFunc, h.DeleteFunc)
	case *cache.ResourceEventHandlerFuncs:
		name = functionsName(h.AddFunc, h.UpdateFunc, h.DeleteFunc)
	default:
		name = typeName(handler)
	}
	if name == "" {
		return fmt.Sprintf("%T", handler)
	}
	return name
}

// typeName returns the full name of the type of v, or of the type that v points to.
func typeName(v any) string {
	t := reflect.TypeOf(v)
	if t == nil {
		return ""
	}
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if t.PkgPath() == "" {
		return t.Name()
	}
	return t.PkgPath() + "." + t.Name()
}

// functionsName returns where functions are from: what the first parts of their
// names have in common if that is the same for all of them, else all names.
func functionsName(functions ...any) string {
	var names, places []string
	for _, f := range functions {
		v := reflect.ValueOf(f)
		if v.IsNil() {
			continue
		}
		name := runtime.FuncForPC(v.Pointer()).Name()
		names = append(names, name)
		places = append(places, name[:max(0, strings.LastIndexByte(name, '.'))])
	}
	if places = slices.Compact(places); len(places) == 1 {
		return places[0]
	}
	return strings.Join(names, "+")
}
