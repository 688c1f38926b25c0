package jsontree

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/rand"
	"net/netip"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
	"unsafe"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/apitesting/fuzzer"
	"k8s.io/apimachinery/pkg/api/resource"
	metafuzzer "k8s.io/apimachinery/pkg/apis/meta/fuzzer"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/apimachinery/pkg/util/intstr"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	"k8s.io/client-go/kubernetes/scheme"

	"github.com/kubetyped/informer/internal/decode/plan"
)

// structsOf is Structs for a type that is known when the test runs.
type structsOf struct {
	*Decoder
	root *node
}

func newStructsOf(t testing.TB, of reflect.Type, mask *plan.Mask) *structsOf {
	build := planner{made: map[masked]*node{}}
	root, err := build.node(of, mask)
	require.NoError(t, err)
	return &structsOf{New(false, nil), root}
}

// check decodes an object, and fails unless that is what apimachinery makes of it. It
// returns it, nil if it was left to that.
func (s *structsOf) check(t testing.TB, text []byte, like any) any {
	t.Helper()
	want := reflect.New(s.root.of).Interface()
	err := utiljson.Unmarshal(text, want)
	var before unsafe.Pointer
	if like != nil {
		before = reflect.ValueOf(like).UnsafePointer()
	}
	buffer := slices.Clone(text)
	made, ok := s.decodeStruct(s.root, buffer, before)
	clear(buffer) // nothing refers to it
	if !ok {
		return nil
	}
	require.NoError(t, err, "%q", text)
	require.Equal(t, want, made.Interface(), "%q", text)
	return made.Interface()
}

// TestStructsOfTheScheme: all types of client-go's scheme have a plan, which decodes
// what encoders write as apimachinery does.
func TestStructsOfTheScheme(t *testing.T) {
	t.Parallel()
	codecs := serializer.NewCodecFactory(scheme.Scheme)
	fill := fuzzer.FuzzerFor(metafuzzer.Funcs, rand.NewSource(1), codecs).NilChance(0.4).NumElements(0, 3)
	known := map[string]reflect.Type{}
	for kind, of := range scheme.Scheme.AllKnownTypes() {
		if !strings.HasSuffix(of.Name(), "List") && of != reflect.TypeFor[metav1.InternalEvent]() { // which is never encoded
			known[kind.String()] = of
		}
	}
	require.Greater(t, len(known), 100)
	for _, kind := range slices.Sorted(maps.Keys(known)) {
		of := known[kind]
		s := newStructsOf(t, of, nil)
		var like any
		for range 4 {
			obj := reflect.New(of).Interface()
			fill.Fill(obj)
			text, err := json.Marshal(obj)
			if err != nil {
				continue // a value that has no form in JSON
			}
			require.NotNil(t, s.check(t, text, nil))
			got := s.check(t, text, like)
			require.NotNil(t, got, "%v %s", of, text)
			like = s.check(t, text, got)
		}
	}
}

func decodePod(t testing.TB, s *structsOf, text []byte, like any) *corev1.Pod {
	t.Helper()
	got := s.check(t, text, like)
	require.NotNil(t, got)
	return got.(*corev1.Pod)
}

// TestStructsShareUnchangedParts: an object has the parts of the state before it, where
// these have not changed.
func TestStructsShareUnchangedParts(t *testing.T) {
	s := newStructsOf(t, reflect.TypeFor[corev1.Pod](), nil)
	before := decodePod(t, s, podText(t, 1, 1), nil)
	text := podText(t, 1, 2)
	after := decodePod(t, s, text, before)
	address := func(m any) unsafe.Pointer { return reflect.ValueOf(m).UnsafePointer() }
	assert.Equal(t, address(before.Labels), address(after.Labels))
	assert.Equal(t, address(before.Annotations), address(after.Annotations))
	assert.Same(t, &before.Spec.Containers[0], &after.Spec.Containers[0])
	assert.Same(t, &before.Spec.Tolerations[0], &after.Spec.Tolerations[0])
	assert.Same(t, before.ManagedFields[0].FieldsV1, after.ManagedFields[0].FieldsV1)
	assert.Same(t, before.Status.StartTime, after.Status.StartTime)
	assert.NotSame(t, &before.Status.Conditions[0], &after.Status.Conditions[0])
	assert.Equal(t, unsafe.StringData(before.Name), unsafe.StringData(after.Name))

	alone := testing.AllocsPerRun(20, func() { s.decodeStruct(s.root, text, nil) })
	shared := testing.AllocsPerRun(20, func() { s.decodeStruct(s.root, text, unsafe.Pointer(after)) })
	assert.Less(t, shared, alone/2)
}

// TestModifiedStructsAreNotTaken: a program that modifies an object, against the rule, does not
// make others wrong.
func TestModifiedStructsAreNotTaken(t *testing.T) {
	s := newStructsOf(t, reflect.TypeFor[corev1.Pod](), nil)
	var like *corev1.Pod
	for n := range 4 {
		text := podText(t, n/2, 1)
		like = decodePod(t, s, text, like)
		like = decodePod(t, s, text, like)
		like.Labels["more"] = "modified"
		like.Annotations[slices.Sorted(maps.Keys(like.Annotations))[0]] = "modified"
		like.Spec.Tolerations[0].Value = "modified"
		*like.Spec.Tolerations[0].TolerationSeconds = 1
		like.Spec.Containers[0].Args[0] = "modified"
		like.Spec.Containers[0].Args = append(make([]string, 0, 9), like.Spec.Containers[0].Args...)
		like.Spec.Containers[0].Resources.Requests["cpu"] = resource.MustParse("7")
		like.Status.StartTime.Time = like.Status.StartTime.UTC()
		like.Status.Conditions[0].LastTransitionTime.Time = like.Status.Conditions[0].LastTransitionTime.Add(time.Nanosecond)
		like.ManagedFields[0].FieldsV1.SetRawBytes([]byte("{}"))
		like.OwnerReferences = append(like.OwnerReferences, metav1.OwnerReference{})
	}
	all, text := newStructsOf(t, reflect.TypeFor[everything](), nil), []byte(`{"Pointer":{"Int":1}}`)
	for _, modify := range []func(*everything){
		func(e *everything) { e.hidden = "modified" },
		func(e *everything) { e.Dash = "modified" },
		func(e *everything) { e.Other = "modified" },
		func(e *everything) { e.Pointed = new("modified") },
	} {
		like := all.check(t, text, nil).(*everything)
		modify(like.Pointer)
		all.check(t, text, like)
	}
}

// TestStructsHaveNoRoom: an element appended to a slice does not appear in objects that share it,
// even if it comes from a decoder that leaves room.
func TestStructsHaveNoRoom(t *testing.T) {
	t.Parallel()
	s := newStructsOf(t, reflect.TypeFor[corev1.Container](), nil)
	text := []byte(`{"args":["a","b","c","d","e"],"env":[],"ports":[{},{},{}]}`)
	like := &corev1.Container{}
	require.NoError(t, utiljson.Unmarshal(text, like))
	require.Greater(t, cap(like.Args), len(like.Args))
	for range 3 {
		like = s.check(t, text, like).(*corev1.Container)
		assert.Equal(t, 5, cap(like.Args))
		assert.Equal(t, 3, cap(like.Ports))
		assert.Zero(t, cap(like.Env))
		text = []byte(`{"args":["a","b","c","d","e"],"env":[],"ports":[{},{},{"name":"x"}]}`)
	}
	all, bytes := newStructsOf(t, reflect.TypeFor[everything](), nil), &everything{}
	text = []byte(`{"Bytes":"YWI="}`)
	require.NoError(t, utiljson.Unmarshal(text, bytes))
	require.Greater(t, cap(bytes.Bytes), 2)
	assert.Equal(t, 2, cap(all.check(t, text, bytes).(*everything).Bytes))
	text = []byte(`{"Pointer":{"Bytes":"YWI="}}`)
	bytes = &everything{Pointer: bytes}
	assert.Equal(t, 2, cap(all.check(t, text, bytes).(*everything).Pointer.Bytes))
}

// everything declares fields of all kinds.
type everything struct {
	metav1.TypeMeta `json:",inline"`
	embedded
	Named    embedded `json:"named"`
	String   string
	Kind     corev1.PodPhase
	Bool     bool
	Int      int
	Int8     int8
	Int64    int64
	Uint     uint
	Uint8    uint8
	Uint64   uint64
	Float32  float32
	Float64  float64
	Bytes    []byte
	Any      any
	Anys     []any
	Object   map[string]any
	Strings  map[string]string
	Names    map[corev1.ResourceName]int
	Nested   map[string][]*everything
	Pointer  *everything
	Texts    []string
	Pointers []*int
	Time     metav1.Time
	Times    *metav1.MicroTime
	Raw      json.RawMessage
	RawP     *runtime.RawExtension
	Port     intstr.IntOrString
	Dash     string `json:"-"`
	//lint:ignore SA5008 a name that is a dash, as encoding/json has it
	Comma  string `json:"-,"`
	Other  string `json:"other,omitempty"`
	hidden string
}

type embedded struct {
	Within  string `json:"within"`
	Pointed *string
}

// TestUnusualStructs: whatever comes for a field of any kind is decoded as apimachinery
// does it, or left to it; what is usual is not left.
func TestUnusualStructs(t *testing.T) {
	t.Parallel()
	s := newStructsOf(t, reflect.TypeFor[everything](), nil)
	values := []string{
		`null`, `true`, `false`, `0`, `-0`, `1`, `-1`, `127`, `128`, `-128`, `255`, `256`, `1.5`, `1.0`, `1e3`, `-0.0`, `1e40`, `1e999`, `01`,
		`9223372036854775807`, `9223372036854775808`, `18446744073709551615`, `18446744073709551616`, `-9223372036854775808`,
		`""`, `"a"`, `"1"`, `"YWJj"`, `"YWJ"`, `"YW\nJj"`, `"\u0041"`, `"\ud800"`, `"2026-01-02T03:04:05Z"`, `"2026-01-02T03:04:05+01:00"`, `"2026-01-02T03:04:05.5Z"`, `"2026-01-02T03:04:05.000001Z"`,
		`"0000-01-02T03:04:05Z"`, `{}`, `[]`, `[null]`, `{"a":null}`, `{"a":1}`, `{"a":"b","c":"d"}`, `{"a":"b","a":"b"}`, `[1,2]`, `["a","b","c"]`, `[{}]`, `{"a":[{}]}`, `{"a":[null]}`,
		`{"within":"a","Pointed":"b"}`, `{"within":"a","within":"a"}`, `{"String":"a","Int":1}`, `{"Pointer":{"Pointer":{}}}`, `[1,]`, `{"a"}`, `nul`, `"`,
		strings.Repeat(`{"Pointer":`, 300) + `{}` + strings.Repeat(`}`, 300),
	}
	names := []string{"within", "Pointed", "kind", "apiVersion", "Dash", "-", "other", "Other", "OTHER", "string", "hidden", "unknown"}
	for i := range reflect.TypeFor[everything]().NumField() {
		names = append(names, reflect.TypeFor[everything]().Field(i).Name)
	}
	names = append(names, "named")
	// Half a pair, a name twice, what is deep, large numbers, and numbers for bytes.
	rare := regexp.MustCompile(`ud800|within.*within|(.Pointer.:{){9}|1e999|[0-9]{19}|^\[(null|1,2)?\]$`)
	var left []string
	for _, name := range names {
		var like any = &everything{}
		for _, value := range values {
			text := []byte(`{"before":[1],"` + name + `" : ` + value + ` ,"String":"s","Int":2}`)
			if name == "String" || name == "Int" {
				text = []byte(`{"` + name + `":` + value + `}`)
			}
			var want everything
			err := utiljson.Unmarshal(text, &want)
			for range 2 {
				got := s.check(t, text, like)
				if got == nil && err == nil && !rare.MatchString(value) {
					left = append(left, string(text))
				}
				if got != nil {
					like = got
				}
			}
		}
	}
	assert.Empty(t, left, "what is left to apimachinery though there is nothing wrong with it")
	for _, text := range []string{``, `null`, `[]`, `1`, `{}{}`, `{"String":"a","String":"b"}`, `{`, "{}\x00"} {
		require.Nil(t, s.check(t, []byte(text), nil), text)
	}
}

// TestMaskedStructs: fields that are left out are not there, and are checked.
func TestMaskedStructs(t *testing.T) {
	t.Parallel()
	mask, err := plan.Only("spec.containers.name", "status.conditions", "metadata.labels")
	require.NoError(t, err)
	structs, err := NewStructs[*corev1.Pod](reflect.TypeFor[*corev1.Pod](), mask)
	require.NoError(t, err)
	var like *corev1.Pod
	for i := range 6 {
		want := &corev1.Pod{}
		text := podText(t, i/2, 1)
		require.NoError(t, utiljson.Unmarshal(text, want))
		mask.Apply(want)
		var ok bool
		like, ok = structs.Decode(text, like)
		require.True(t, ok)
		require.Equal(t, want, like)
	}
	_, ok := structs.Decode([]byte(`{"status":{"phase":01}}`), nil)
	assert.False(t, ok)
}

// TestNoStructs: a type that cannot have a plan gets an error.
func TestNoStructs(t *testing.T) {
	t.Parallel()
	type embeds struct{ *metav1.ObjectMeta }
	type quoted struct {
		N int `json:",string"`
	}
	type twice struct {
		metav1.TypeMeta
		Own string `json:"kind"`
	}
	type keys struct{ M map[int]string }
	type array struct{ A [2]int }
	type number struct{ N json.Number }
	type text struct{ A netip.Addr }
	type methods struct{ S fmt.Stringer }
	type uncalled struct {
		size `json:"size"`
		unit `json:"unit"`
	}
	for _, make := range []func() error{
		noStructs[corev1.Pod], noStructs[*int], noStructs[*metav1.Time], noStructs[*embeds], noStructs[*quoted], noStructs[*twice],
		noStructs[*keys], noStructs[*array], noStructs[*number], noStructs[*text], noStructs[*methods], noStructs[*uncalled],
	} {
		assert.Error(t, make())
	}
}

// size and unit have methods that are not called where the types are embedded, as they are not
// exported.
type size struct{ N int }

func (s *size) UnmarshalJSON([]byte) error { s.N = 1; return nil }

type unit struct{ Name string }

func (u *unit) UnmarshalJSON([]byte) error { u.Name = "m"; return nil }

func noStructs[T any]() error {
	_, err := NewStructs[T](reflect.TypeFor[T](), nil)
	return err
}

// TestStructsAtOnce: several goroutines may decode at once.
func TestStructsAtOnce(t *testing.T) {
	t.Parallel()
	s := newStructsOf(t, reflect.TypeFor[corev1.Pod](), nil)
	first := decodePod(t, s, podText(t, 0, 1), nil)
	var decoding sync.WaitGroup
	for range 4 {
		decoding.Go(func() {
			like := first
			for i := range 40 {
				like = decodePod(t, s, podText(t, i%7, 1), like)
			}
		})
	}
	decoding.Wait()
}

// FuzzStructs: every text is decoded as by apimachinery, even if there is a similar object.
func FuzzStructs(f *testing.F) {
	f.Add(false, podText(f, 1, 1), podText(f, 1, 2))
	f.Add(true, []byte(`{"String":"a","Any":[1,{}],"Bytes":"YWJj","Time":"2026-01-02T03:04:05Z"}`), []byte(`{"Pointer":{"Int":1},"Nested":{"a":[{},null]}}`))
	f.Add(true, []byte(`{"named":{"within":"x"},"Float32":1.5,"Names":{"a":1},"RawP":{"a":1},"Port":80}`), []byte(`{"-":"x","Times":"2026-01-02T03:04:05.000001Z"}`))
	pods, all := newStructsOf(f, reflect.TypeFor[corev1.Pod](), nil), newStructsOf(f, reflect.TypeFor[everything](), nil)
	f.Fuzz(func(t *testing.T, every bool, text, other []byte) {
		s := pods
		if every {
			s = all
		}
		like := s.check(t, other, nil)
		for _, text := range [][]byte{text, other, text, text} {
			if got := s.check(t, text, like); got != nil {
				like = got
			}
		}
	})
}
