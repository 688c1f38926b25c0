package wire

import (
	"fmt"
	"net/url"
	"reflect"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/scheme"
)

// message declares methods of all three kinds, small enough for the compiler to inline them where
// they are promoted.
type message struct{ Text string }

func (m *message) Reset()                    { *m = message{} }
func (m *message) Unmarshal(b []byte) error  { m.Text = string(b); return nil }
func (message) UnmarshalJSON(_ []byte) error { return nil }

type (
	promotedFromValue  struct{ message }
	promotedFromOffset struct {
		A string
		message
	}
	promotedFromPointer    struct{ *message }
	promotedFromInterface  struct{ unmarshaler }
	promotedTwice          struct{ promotedFromOffset }
	promotedGeneric[V any] struct {
		V V
		message
	}
	promotedFromGeneric struct{ ownGeneric[int] }
	promotedFromMeta    struct {
		metav1.ObjectMeta `json:"metadata"`
		Spec              string
	}
	promotedFromPod struct {
		corev1.Pod
		Extra string
	}
	ambiguous struct {
		promotedFromValue
		promotedFromOffset
	}
	declaredOverAmbiguous struct{ ambiguous }
)

type own struct{ message }

func (o *own) Reset()                   { *o = own{} }
func (o *own) Unmarshal(b []byte) error { return nil }

type ownByValue struct{ message }

func (ownByValue) Reset()                 {}
func (ownByValue) Unmarshal([]byte) error { return nil }

// ownCallsEmbedded does what a promoted method does, by itself.
type ownCallsEmbedded struct{ message }

func (o *ownCallsEmbedded) Reset()                   { o.message.Reset() }
func (o *ownCallsEmbedded) Unmarshal(b []byte) error { return o.message.Unmarshal(b) }

type ownGeneric[V any] struct {
	message
	V V
}

func (o *ownGeneric[V]) Reset()                   { var none V; o.V = none }
func (o *ownGeneric[V]) Unmarshal(b []byte) error { return nil }

type ownGenericByValue[V any] struct {
	message
	V V
}

func (ownGenericByValue[V]) Reset()                 {}
func (ownGenericByValue[V]) Unmarshal([]byte) error { return nil }

func (*declaredOverAmbiguous) Reset()                 {}
func (*declaredOverAmbiguous) Unmarshal([]byte) error { return nil }

// half declares one of the two methods.
type half struct{ message }

func (*half) Unmarshal([]byte) error { return nil }

// TestDeclaredMethods distinguishes the methods of a type from those of its embedded types.
func TestDeclaredMethods(t *testing.T) {
	for _, obj := range []any{
		&message{}, &own{}, &ownByValue{}, &ownCallsEmbedded{}, &ownGeneric[int]{}, &ownGeneric[*corev1.Pod]{},
		&ownGenericByValue[string]{}, &declaredOverAmbiguous{}, &corev1.Pod{}, &metav1.ObjectMeta{},
	} {
		assert.True(t, hasProtobuf(reflect.TypeOf(obj)), "%T", obj)
	}
	for _, obj := range []any{
		&promotedFromValue{}, &promotedFromOffset{}, &promotedFromPointer{}, &promotedFromInterface{}, &promotedTwice{},
		&promotedGeneric[int]{}, &promotedFromGeneric{}, &promotedFromMeta{}, &promotedFromPod{}, &ambiguous{}, &half{}, &struct{}{},
	} {
		assert.False(t, hasProtobuf(reflect.TypeOf(obj)), "%T", obj)
	}
}

// TestTypesOfTheScheme: all types of the API are decoded by their generated code,
// and none of them is refused.
func TestTypesOfTheScheme(t *testing.T) {
	withProtobuf := 0
	for kind, of := range scheme.Scheme.AllKnownTypes() {
		pointer := reflect.PointerTo(of)
		_, isObject := reflect.New(of).Interface().(metav1.Object)
		if !isObject {
			continue
		}
		require.NoError(t, CheckType(pointer), kind)
		if kind.Version != runtime.APIVersionInternal {
			assert.True(t, hasProtobuf(pointer), kind)
			withProtobuf++
		}
	}
	assert.Greater(t, withProtobuf, 100)
}

// Objects whose metadata is read, or is not.
type (
	untagged struct {
		metav1.TypeMeta
		metav1.ObjectMeta
	}
	inlined struct {
		metav1.ObjectMeta `json:",inline"`
	}
	misspelt struct {
		metav1.ObjectMeta `json:"meta,omitempty"`
	}
	base         struct{ metav1.ObjectMeta }
	untaggedBase struct {
		base
		Spec string
	}
	untaggedPointer struct{ *metav1.ObjectMeta }
	tagged          struct {
		metav1.TypeMeta   `json:",inline"`
		metav1.ObjectMeta `json:"metadata,omitempty"`
	}
	taggedBase struct {
		tagged `json:",inline"`
		Spec   string
	}
	taggedPointer struct {
		*metav1.ObjectMeta `json:"metadata"`
	}
	partial struct {
		metav1.PartialObjectMetadata
		Spec string `json:"spec"`
	}
)

// named reads its name by itself.
type named struct {
	Metadata struct {
		Name    string `json:"name"`
		Version string `json:"resourceVersion"`
	} `json:"metadata"`
}

func (n *named) GetName() string            { return n.Metadata.Name }
func (n *named) GetResourceVersion() string { return n.Metadata.Version }

type nameless struct{ named }

func (*nameless) GetName() string { return "" }

type versionless struct{ named }

func (*versionless) GetResourceVersion() string { return "" }

// ring embeds itself.
type ring struct{ *ring }

func (*ring) GetName() string { return "" }

// demanding needs more than a name.
type demanding struct{ Spec *string }

func (d *demanding) GetName() string { return *d.Spec }

// strict decodes by itself.
type strict struct{ untagged }

func (*strict) UnmarshalJSON([]byte) error { return nil }

type (
	wrapped struct {
		unstructured.Unstructured
		seen int
	}
	wrappedPointer struct{ *unstructured.Unstructured }
	wrappedMore    struct {
		unstructured.Unstructured
		Extra string
	}
	wrappedTime struct {
		metav1.ObjectMeta `json:"metadata"`
		metav1.Time
	}
	wrappedIgnored struct {
		unstructured.Unstructured
		Cache time.Time `json:"-"`
	}
)

func TestCheckType(t *testing.T) {
	for _, test := range []struct {
		obj     any
		message string
	}{
		{&untagged{}, "the name of its objects is not read: the embedded field ObjectMeta has no JSON tag; write v1.ObjectMeta `json:\"metadata\"`"},
		{&inlined{}, "the embedded field ObjectMeta has the tag `json:\",inline\"`; write v1.ObjectMeta `json:\"metadata\"`"},
		{&misspelt{}, "the embedded field ObjectMeta has the tag `json:\"meta,omitempty\"`; write"},
		{&untaggedBase{}, "the embedded field ObjectMeta has no JSON tag"},
		{&untaggedPointer{}, "the embedded field ObjectMeta has no JSON tag; write *v1.ObjectMeta `json:\"metadata\"`"},
		{&nameless{}, "the name of its objects is not read: no field takes what is in \"metadata\"; embed metav1.ObjectMeta with the tag"},
		{&ring{}, "the name of its objects is not read: no field takes what is in"},
		{&versionless{}, "the resource version of its objects is not read"},
		{&wrappedPointer{}, "method UnmarshalJSON is that of the embedded field Unstructured, which is nil"},
		{&wrappedMore{}, "method UnmarshalJSON is that of the embedded field Unstructured, and leaves the field Extra empty"},
		{&wrappedTime{}, "method UnmarshalJSON is that of the embedded field Time, and leaves the field ObjectMeta empty: write the method for the type, or give Time a name"},
		{tagged{}, "pointers to structs, and wire.tagged is none"},
		{&tagged{}, ""}, {&taggedBase{}, ""}, {&taggedPointer{}, ""}, {&partial{}, ""}, {&named{}, ""}, {&demanding{}, ""}, {&strict{}, ""},
		{&wrapped{seen: 1}, ""}, {&wrappedIgnored{}, ""}, {&promotedFromMeta{}, ""}, {&promotedFromPod{}, ""},
		{&unstructured.Unstructured{}, ""}, {&metav1.PartialObjectMetadata{}, ""}, {&struct{}{}, ""},
	} {
		err := CheckType(reflect.TypeOf(test.obj))
		if test.message == "" {
			assert.NoError(t, err, "%T", test.obj)
		} else {
			assert.ErrorContains(t, err, test.message, fmt.Sprintf("%T", test.obj))
		}
	}
}

type (
	untaggedSpec struct {
		metav1.TypeMeta
		metav1.ObjectMeta `json:"metadata"`
		Spec              struct{ Replicas int }
	}
	untaggedDeep struct {
		metav1.ObjectMeta `json:"metadata"`
		Tree              untaggedTree               `json:"tree"`
		Spec              map[string][]*untaggedPart `json:"spec"`
		Next              *untaggedDeep              `json:"next"`
	}
	untaggedTree []untaggedTree
	// Embedded is no struct: it is a field of its name.
	Embedded         string
	untaggedEmbedded struct {
		metav1.ObjectMeta `json:"metadata"`
		Embedded
	}
	untaggedPart struct {
		Size int `json:",omitempty"`
	}
	untaggedInBase      struct{ untaggedBasePart }
	untaggedInNamedBase struct {
		untaggedBasePart `json:"base"`
	}

	untaggedBasePart struct {
		metav1.ObjectMeta `json:"metadata"`
		URL               string
	}
	tagless struct {
		metav1.ObjectMeta `json:"metadata"`
		Time              time.Time              `json:"time"`
		Foreign           struct{ *url.URL }     `json:"foreign"` // another package declares its fields
		Any               any                    `json:"any"`
		Local             func()                 `json:"-"`
		Self              *tagless               `json:"self"`
		Parts             map[string]corev1.Node `json:"parts"`
		unexported        int
	}
)

// TestCheckTags: a field that no key of an object would ever match is refused.
func TestCheckTags(t *testing.T) {
	for _, test := range []struct {
		obj     any
		message string
	}{
		{&untaggedSpec{}, "the field untaggedSpec.Spec has no name in a JSON tag, and would stay empty: write `json:\"spec\"`, or `json:\"-\"` for what the server does not have"},
		{&untaggedDeep{}, "the field untaggedDeep.Spec.Size has no name in a JSON tag, and would stay empty: write `json:\"size\"`"},
		{&untaggedInBase{}, "the field untaggedInBase.untaggedBasePart.URL has no name in a JSON tag, and would stay empty: write `json:\"url\"`"},
		{&untaggedInNamedBase{}, "the field untaggedInNamedBase.untaggedBasePart.URL has no name in a JSON tag"},
		{&untaggedEmbedded{}, "the field untaggedEmbedded.Embedded has no name in a JSON tag"},
		{&tagless{unexported: 1}, ""}, {&strict{}, ""}, {&corev1.Pod{}, ""}, {&metav1.PartialObjectMetadata{}, ""}, {&unstructured.Unstructured{}, ""},
	} {
		err := CheckTags(reflect.TypeOf(test.obj))
		if test.message == "" {
			assert.NoError(t, err, "%T", test.obj)
		} else {
			assert.ErrorContains(t, err, test.message, fmt.Sprintf("%T", test.obj))
		}
	}
	for kind, of := range scheme.Scheme.AllKnownTypes() {
		if kind.Version == runtime.APIVersionInternal {
			continue // never sent
		}
		assert.NoError(t, CheckTags(reflect.PointerTo(of)), kind)
	}
}

// decodesItself reads all its fields, and writes only those of the embedded type.
type decodesItself struct {
	unstructured.Unstructured
	Extra string
}

func (*decodesItself) UnmarshalJSON([]byte) error { return nil }

type encodesItself struct{ decodesItself }

func (*encodesItself) UnmarshalJSON([]byte) error   { return nil }
func (*encodesItself) MarshalJSON() ([]byte, error) { return nil, nil }

// TestCheckEncoding: a type whose fields would be left out when it is sent is
// refused.
func TestCheckEncoding(t *testing.T) {
	require.NoError(t, CheckType(reflect.TypeFor[*decodesItself]()))
	assert.EqualError(t, CheckEncoding(reflect.TypeFor[*decodesItself]()),
		"method MarshalJSON is that of the embedded field Unstructured, and leaves the field Extra out: write the method for the type, or give Unstructured a name")
	for _, obj := range []any{
		&encodesItself{}, &wrapped{}, &wrappedIgnored{}, &tagged{}, &partial{}, &named{}, &corev1.Pod{},
		&unstructured.Unstructured{}, &metav1.PartialObjectMetadata{},
	} {
		assert.NoError(t, CheckEncoding(reflect.TypeOf(obj)), "%T", obj)
	}
}

// TestPromotedMethods: a type that embeds another one with generated code is
// decoded field by field.
func TestPromotedMethods(t *testing.T) {
	types, err := MediaTypes[*partial](nil)
	require.NoError(t, err)
	assert.Equal(t, []string{runtime.ContentTypeJSON}, types)
	codec, err := NewCodec[*partial](runtime.ContentTypeJSON, nil, nil, nil)
	require.NoError(t, err)
	obj, err := codec.Item([]byte(`{"metadata":{"name":"a"},"spec":"s"}`))
	require.NoError(t, err)
	assert.Equal(t, "a s", obj.Name+" "+obj.Spec)
}
