package differential

import (
	"encoding/json"
	"math/rand/v2"
	"reflect"

	"github.com/kubetyped/informer/internal/decode/plan"
)

// randomMask returns a mask of some fields of a type, mostly nil.
func randomMask(r *rand.Rand, of reflect.Type) *plan.Mask {
	if !rarely(r, 3) {
		return nil
	}
	paths := pathsOf(of, "", 4)
	if len(paths) == 0 {
		return nil
	}
	for range 5 { // what has identity in it cannot be left out
		var some []string
		for range 1 + r.IntN(5) {
			some = append(some, one(r, paths))
		}
		mask, err := one(r, []func(...string) (*plan.Mask, error){plan.Only, plan.Without})(some...)
		if err == nil && mask.Check(reflect.PointerTo(of)) == nil {
			return mask
		}
	}
	return nil
}

// pathsOf returns the paths of the fields of a type, to a depth.
func pathsOf(of reflect.Type, prefix string, depth int) (paths []string) {
	for of.Kind() == reflect.Pointer || of.Kind() == reflect.Slice {
		of = of.Elem()
	}
	if of.Kind() != reflect.Struct || depth == 0 || reflect.PointerTo(of).Implements(reflect.TypeFor[json.Unmarshaler]()) {
		return nil
	}
	for i := range of.NumField() {
		f := of.Field(i)
		switch name, inline := plan.JSONName(f); {
		case f.Tag.Get("json") == "-" || !plan.InJSON(f):
		case inline:
			paths = append(paths, pathsOf(f.Type, prefix, depth)...)
		default:
			paths = append(append(paths, prefix+name), pathsOf(f.Type, prefix+name+".", depth-1)...)
		}
	}
	return paths
}
