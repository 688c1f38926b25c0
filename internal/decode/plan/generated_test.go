package plan

import (
	"fmt"
	"reflect"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Types whose generated code does what no plan does. The name of a file marks it as generated.

type withOneof struct {
	metav1.ObjectMeta `json:"metadata" protobuf:"bytes,1,opt,name=metadata"`
	Value             any `json:"-" protobuf_oneof:"value"`
}

type withZigzag struct {
	Delta int32 `json:"delta" protobuf:"zigzag32,1,opt,name=delta"`
}

type withFixed struct {
	Number int64 `json:"number" protobuf:"fixed64,1,opt,name=number"`
}

type withUnknown struct {
	Name             string `json:"name" protobuf:"bytes,1,opt,name=name"`
	XXX_unrecognized []byte `json:"-"` //nolint:revive // as generated
}

type withRequired struct {
	Name string `json:"name" protobuf:"bytes,1,req,name=name"`
}

type withAll struct {
	Inner *withZigzag `json:"inner,omitempty" protobuf:"bytes,1,opt,name=inner"`
}

type withNone struct {
	Name string `json:"name" protobuf:"bytes,1,opt,name=name"`
}

// TestGeneratedCodeThatDoesMore: there is no plan of a type whose code does what a plan
// does not, nor of one that has such a type in it, for itself or for another struct.
func TestGeneratedCodeThatDoesMore(t *testing.T) {
	t.Parallel()
	for of, want := range map[reflect.Type]string{
		reflect.TypeFor[withOneof]():    "withOneof.Value has one of several fields",
		reflect.TypeFor[withZigzag]():   "withZigzag.Delta is encoded as zigzag32",
		reflect.TypeFor[withFixed]():    "withFixed.Number is encoded as fixed64",
		reflect.TypeFor[withUnknown]():  "withUnknown.XXX_unrecognized keeps",
		reflect.TypeFor[withRequired](): "fields that have to be there",
		reflect.TypeFor[withAll]():      "withZigzag.Delta is encoded as zigzag32",
	} {
		_, err := NewPool().plan(of, nil)
		require.ErrorContains(t, err, want, fmt.Sprint(of))
		_, err = From[*withNone](of, nil, nil)
		require.Error(t, err, fmt.Sprint(of))
	}
	_, err := NewPool().plan(reflect.TypeFor[withNone](), nil)
	require.NoError(t, err)
	_, err = From[*withNone](reflect.TypeFor[withUnknown](), nil, nil)
	require.ErrorContains(t, err, "XXX_unrecognized")
	_, err = From[*withAll](reflect.TypeFor[withAll](), nil, nil)
	require.ErrorContains(t, err, "zigzag32")
	type onlyMeta struct {
		metav1.ObjectMeta `json:"metadata"`
	}
	_, err = From[*onlyMeta](reflect.TypeFor[withOneof](), nil, nil)
	require.ErrorContains(t, err, "withOneof.Value")
}

// TestEmptyValues: of all types of client-go's scheme and those in them, each field that
// is there without contents becomes what generated code makes of it, such as a slice that
// is not nil; alone, with all others, and once more where it is found.
func TestEmptyValues(t *testing.T) {
	t.Parallel()
	pool := NewPool()
	messages := 0
	for _, of := range within(types()) {
		plan, err := pool.plan(of, nil)
		require.NoError(t, err)
		var all []byte
		for _, number := range plan.known {
			wire := plan.fields[number].wire
			all = append(all, appendTag(nil, number, wire)...)
			all = append(all, 0)
			checkDecode(t, pool, plan, append(appendTag(nil, number, wire), 0))
			if plan.fields[number].shape == table { // an entry without a key, whose value is empty
				checkDecode(t, pool, plan, append(appendTag(nil, number, wire), 2, valueNumber<<3|bytesType, 0))
			}
			messages++
		}
		for range 3 {
			checkDecode(t, pool, plan, all)
		}
	}
	assert.Greater(t, messages, 3000)
}

func appendTag(data []byte, number uint64, wire uint8) []byte {
	for tag := number<<3 | uint64(wire); ; tag >>= 7 {
		if tag < 0x80 {
			return append(data, byte(tag))
		}
		data = append(data, byte(tag)|0x80)
	}
}

// checkDecode compares what a plan decodes with what generated code does.
func checkDecode(t *testing.T, pool *Pool, plan *message, data []byte) {
	t.Helper()
	want := reflect.New(plan.of).Interface().(unmarshaler)
	require.NoError(t, want.Unmarshal(data))
	got, ok := decode(pool, plan, data, nil)
	require.True(t, ok, "%v: %x", plan.of, data)
	require.Equal(t, want, got, "%v: %x", plan.of, data)
}

// within returns types, and those of the messages in them.
func within(roots []reflect.Type) (all []reflect.Type) {
	seen := map[reflect.Type]bool{}
	var add func(reflect.Type)
	add = func(of reflect.Type) {
		switch of.Kind() {
		case reflect.Pointer, reflect.Slice, reflect.Map:
			add(of.Elem())
			return
		}
		if generated, _ := unmarshals(of); !generated || seen[of] {
			return
		}
		seen[of] = true
		all = append(all, of)
		for i := range of.NumField() {
			add(of.Field(i).Type)
		}
	}
	for _, of := range roots {
		add(of)
	}
	return all
}

//line generated.pb.go:1
func (m *withOneof) Unmarshal([]byte) error   { return nil }
func (m *withZigzag) Unmarshal([]byte) error  { return nil }
func (m *withFixed) Unmarshal([]byte) error   { return nil }
func (m *withUnknown) Unmarshal([]byte) error { return nil }
func (m *withNone) Unmarshal([]byte) error    { return nil }
func (m *withAll) Unmarshal([]byte) error     { return nil }
func (m *withRequired) Unmarshal(data []byte) error {
	if len(data) == 0 {
		return fmt.Errorf("a field is missing")
	}
	return nil
}
