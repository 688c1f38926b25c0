package plan

import (
	"fmt"
	"path/filepath"
	"reflect"
	"runtime"
	"strings"
)

// unmarshals reports whether a type has a method Unmarshal, and whether that is
// generated from the tags, so that a plan can be made from these: the generator
// writes into files of one name, and into no others. Slices, such as
// authentication/v1's ExtraValue, keep their method.
func unmarshals(of reflect.Type) (generated, ok bool) {
	method, ok := reflect.PointerTo(of).MethodByName("Unmarshal")
	if !ok || !reflect.PointerTo(of).Implements(reflect.TypeFor[unmarshaler]()) {
		return false, false
	}
	code := method.Func.Pointer()
	file, _ := runtime.FuncForPC(code).FileLine(code)
	return of.Kind() == reflect.Struct && filepath.Base(file) == "generated.pb.go", true
}

// checkGenerated returns an error if generated code of a message does what a plan does
// not, which knows of protobuf what the types of Kubernetes have: no fields of which one
// at most is set, no integers in another encoding, no field that has to be there, and
// none that keeps what is not known.
func checkGenerated(of reflect.Type) error {
	for f := range of.Fields() {
		encoding, _, _ := strings.Cut(f.Tag.Get("protobuf"), ",")
		switch {
		case f.Tag.Get("protobuf_oneof") != "":
			return fmt.Errorf("%v.%s has one of several fields", of, f.Name)
		case strings.HasPrefix(f.Name, "XXX_"):
			return fmt.Errorf("%v.%s keeps what the generator needs", of, f.Name)
		case encoding != "" && encoding != "-" && encoding != "varint" && encoding != "bytes":
			return fmt.Errorf("%v.%s is encoded as %s", of, f.Name, encoding)
		}
	}
	if reflect.New(of).Interface().(unmarshaler).Unmarshal(nil) != nil {
		return fmt.Errorf("a %v has fields that have to be there", of)
	}
	return nil
}
