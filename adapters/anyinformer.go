package adapters

import (
	"reflect"

	"k8s.io/client-go/tools/cache"

	"github.com/kubetyped/informer/typed"
)

// AnyInformer returns the typed informer on which an informer of client-go's shape stands,
// for pages and metrics, such as those of package inspect:
//
//	pods, ok := adapters.AnyInformer(factory.Core().V1().Pods().Informer())
//
// It returns false for informers that this package and those below it have not made. It
// finds those, too, that are embedded in a struct as a cache.SharedIndexInformer, as
// client-go's factories return them.
func AnyInformer(informer cache.SharedInformer) (typed.AnyInformer, bool) {
	stands, ok := find[interface{ on() typed.AnyInformer }](informer)
	if !ok {
		return nil, false
	}
	return stands.on(), true
}

// find returns the informer, or the first one embedded in it, that has the methods of I.
func find[I any](informer cache.SharedInformer) (has I, ok bool) {
	for informer != nil {
		if has, ok = informer.(I); ok {
			return has, true
		}
		informer = embeddedIn(informer)
	}
	return has, false
}

// embeddedIn returns the informer that is embedded in another one, nil if there is none.
func embeddedIn(informer cache.SharedInformer) cache.SharedInformer {
	v := reflect.ValueOf(informer)
	if v.Kind() == reflect.Pointer && !v.IsNil() {
		v = v.Elem()
	}
	if v.Kind() != reflect.Struct {
		return nil
	}
	field, ok := v.Type().FieldByName("SharedIndexInformer")
	if !ok || !field.Anonymous || field.Type != reflect.TypeFor[cache.SharedIndexInformer]() {
		return nil
	}
	embedded, _ := v.FieldByIndex(field.Index).Interface().(cache.SharedInformer)
	return embedded
}

// on returns what the informer stands on.
func (s *informer[T]) on() typed.AnyInformer { return s.typed }
