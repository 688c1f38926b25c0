package differential

import (
	"encoding/json"
	"math/rand"
	randv2 "math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/api/apitesting/fuzzer"
	metafuzzer "k8s.io/apimachinery/pkg/apis/meta/fuzzer"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	"sigs.k8s.io/randfill"

	"github.com/kubetyped/informer/internal/decode/plan"
	"github.com/kubetyped/informer/internal/decode/wire"
)

// generated is a type with generated code.
type generated interface {
	Marshal() ([]byte, error)
	Unmarshal([]byte) error
	Reset()
}

// Types are types of API objects with generated code.
type Types struct {
	all    []reflect.Type
	codecs serializer.CodecFactory
	funcs  []fuzzer.FuzzerFuncs
}

// Of returns the types of a scheme. The given functions fill them at random, together with those
// of apimachinery.
func Of(scheme *runtime.Scheme, funcs ...fuzzer.FuzzerFuncs) *Types {
	types := &Types{codecs: serializer.NewCodecFactory(scheme), funcs: append([]fuzzer.FuzzerFuncs{metafuzzer.Funcs}, funcs...)}
	known := map[reflect.Type]bool{reflect.TypeFor[metav1.PartialObjectMetadata](): true}
	for _, of := range scheme.AllKnownTypes() {
		// Those of the watch itself are no objects.
		if reflect.PointerTo(of).Implements(reflect.TypeFor[generated]()) && of.Name() != "WatchEvent" && of.Name() != "InternalEvent" {
			known[of] = true
		}
	}
	for of := range known {
		types.all = append(types.all, of)
	}
	slices.SortFunc(types.all, func(a, b reflect.Type) int { return strings.Compare(a.PkgPath()+a.Name(), b.PkgPath()+b.Name()) })
	return types
}

// filler returns what fills objects.
func (g *Types) filler(r *randv2.Rand) *randfill.Filler {
	return fuzzer.FuzzerFor(fuzzer.MergeFuzzerFuncs(g.funcs...), rand.NewSource(r.Int64()), g.codecs).NilChance(0.6).NumElements(0, 2)
}

// states is how many states there are in a program.
const states = 30

// Protobuf runs a program of a type in protobuf.
func (g *Types) Protobuf(t *testing.T, r *randv2.Rand) {
	t.Helper()
	of, fill, held := one(r, g.all), g.filler(r), newHeld(r)
	mask := randomMask(r, of)
	codec, err := wire.NewCodecOf(runtime.ContentTypeProtobuf, reflect.PointerTo(of), as[any](held), mask)
	if err != nil {
		t.Fatal(err)
	}
	s := &subject{
		name: of.String() + " in protobuf", codec: codec, held: held, mask: mask, masked: mask != nil,
		change: func(r *randv2.Rand, text []byte) []byte { return changeMessage(r, text, 12) },
		fresh: func() []byte {
			obj := reflect.New(of).Interface()
			fill.Fill(obj)
			text, _ := obj.(generated).Marshal() // nothing, if it cannot be
			return text
		},
		want: func(text []byte) (any, error) {
			obj := reflect.New(of).Interface()
			return obj, obj.(generated).Unmarshal(text)
		},
		event: func(t string, text []byte) []byte { return messageEvent(t, of.Name(), text) },
	}
	s.run(t, r, states)
}

// messageEvent returns an event in protobuf.
func messageEvent(t, kind string, object []byte) []byte {
	unknown := runtime.Unknown{TypeMeta: runtime.TypeMeta{APIVersion: "v1", Kind: kind}, Raw: object}
	raw, _ := unknown.Marshal()
	frame, _ := (&metav1.WatchEvent{Type: t, Object: runtime.RawExtension{Raw: append([]byte("k8s\x00"), raw...)}}).Marshal()
	return frame
}

// JSON runs a program of a type in JSON.
func (g *Types) JSON(t *testing.T, r *randv2.Rand) {
	t.Helper()
	of := one(r, g.all)
	inJSON(t, r, of, randomMask(r, of), g.texts(r, of))
}

// texts returns what makes texts of a type in JSON.
func (g *Types) texts(r *randv2.Rand, of reflect.Type) func() []byte {
	fill := g.filler(r)
	return func() []byte {
		for range 20 {
			obj := reflect.New(of).Interface()
			fill.Fill(obj)
			if text, err := json.Marshal(obj); err == nil {
				return text
			}
		}
		return []byte("{}")
	}
}

// inJSON runs a program of a type, whose texts are made by a function.
func inJSON(t *testing.T, r *randv2.Rand, of reflect.Type, mask *plan.Mask, fresh func() []byte) {
	t.Helper()
	held := newHeld(r)
	codec, err := wire.NewCodecOf(runtime.ContentTypeJSON, reflect.PointerTo(of), as[any](held), mask)
	if err != nil {
		t.Fatal(err)
	}
	s := &subject{
		name: of.String() + " in JSON", codec: codec, held: held, mask: mask, masked: mask != nil, change: changeText, fresh: fresh,
		want: func(text []byte) (any, error) {
			obj := reflect.New(of).Interface()
			return obj, utiljson.Unmarshal(text, obj)
		},
	}
	s.run(t, r, states)
}

// Unstructured runs a program of unstructured objects, of the contents that a type has.
func (g *Types) Unstructured(t *testing.T, r *randv2.Rand) {
	t.Helper()
	of, held := one(r, g.all), newHeld(r)
	mask := randomMask(r, of)
	codec, err := wire.NewCodec(runtime.ContentTypeJSON, nil, as[*unstructured.Unstructured](held), mask)
	if err != nil {
		t.Fatal(err)
	}
	s := &subject{
		name: of.String() + ", unstructured", codec: anyCodec[*unstructured.Unstructured]{codec}, held: held, mask: mask, masked: mask != nil, change: changeText, fresh: g.texts(r, of),
		want: func(text []byte) (any, error) {
			obj := &unstructured.Unstructured{}
			return obj, utiljson.Unmarshal(text, &obj.Object)
		},
	}
	s.run(t, r, states)
}

// anyCodec is a codec of objects of one type, for callers that take objects of any type.
type anyCodec[T any] struct{ wire.Codec[T] }

// Event implements wire.Codec.
func (c anyCodec[T]) Event(frame []byte) (wire.Event[any], error) {
	e, err := c.Codec.Event(frame)
	return wire.Event[any]{Type: e.Type, Kind: e.Kind, Object: e.Object, Invalid: e.Invalid, Bookmark: e.Bookmark, Status: e.Status}, err
}

// Item implements wire.Codec.
func (c anyCodec[T]) Item(item []byte) (any, error) { return c.Codec.Item(item) }
