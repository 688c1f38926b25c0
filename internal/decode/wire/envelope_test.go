package wire_test

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"io"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes/scheme"

	"github.com/kubetyped/informer/internal/decode/wire"
)

// field is a field of a message, of the type with a length.
func field(number byte, contents ...[]byte) []byte {
	value := slices.Concat(contents...)
	return slices.Concat([]byte{number<<3 | 2}, binary.AppendUvarint(nil, uint64(len(value))), value)
}

// Parts of events and lists in protobuf.
var (
	kindOfPods = slices.Concat(field(1, []byte("v1")), field(2, []byte("Pod")))
	negative   = slices.Concat([]byte{9 << 3}, binary.AppendUvarint(nil, 1<<64-5)) // a number below zero that is not known
	field0     = []byte{0, 0}                                                      // the field 0
)

func podMessage(t testing.TB, name string) []byte {
	data, err := (&corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: name}}).Marshal()
	require.NoError(t, err)
	return data
}

// envelope returns an object with fields of a runtime.Unknown.
func envelope(fields ...[]byte) []byte { return append([]byte("k8s\x00"), slices.Concat(fields...)...) }

// podIn returns the name of a Pod in an event that apimachinery decodes.
func podIn(mediaType string, frame []byte) (string, error) {
	var e metav1.WatchEvent
	err := utiljson.Unmarshal(frame, &e)
	if mediaType == runtime.ContentTypeProtobuf {
		e = metav1.WatchEvent{}
		err = e.Unmarshal(frame)
	}
	if err != nil {
		return "", err
	}
	info, _ := runtime.SerializerInfoForMediaType(scheme.Codecs.SupportedMediaTypes(), mediaType)
	obj, _, err := info.Serializer.Decode(e.Object.Raw, nil, nil)
	if err != nil {
		return "", err
	}
	return obj.(*corev1.Pod).Name, nil
}

// TestEnvelopes: what is around the object of an event is read as apimachinery reads it,
// if it is written in unusual ways, too.
func TestEnvelopes(t *testing.T) {
	t.Parallel()
	a, b := podMessage(t, "a"), podMessage(t, "b")
	whole := func(data []byte) []byte { return envelope(field(1, kindOfPods), field(2, data)) }
	event := func(fields ...[]byte) []byte { return append(field(1, []byte("ADDED")), slices.Concat(fields...)...) }
	const podJSON = `{"kind":"Pod","apiVersion":"v1","metadata":{"name":"a"}}`
	for _, test := range []struct {
		mediaType string
		frames    map[string][]byte
	}{
		{runtime.ContentTypeProtobuf, map[string][]byte{
			"as usual":                   event(field(2, field(1, whole(a)))),
			"raw twice":                  event(field(2, field(1, whole(a)), field(1, whole(b)))),
			"an object twice":            event(field(2, field(1, whole(a))), field(2, field(1, whole(b)))),
			"then an object without any": event(field(2, field(1, whole(a))), field(2)),
			"the contents twice":         event(field(2, field(1, envelope(field(1, kindOfPods), field(2, a), field(2, b))))),
			"the kind in two":            event(field(2, field(1, envelope(field(1, field(1, []byte("v1"))), field(1, field(2, []byte("Pod"))), field(2, a))))),
			"the metadata in two":        event(field(2, field(1, whole(slices.Concat(a, field(1, field(3, []byte("default")))))))),
			"a negative number":          event(negative, field(2, negative, field(1, envelope(negative, field(1, negative, kindOfPods), field(2, negative, a))))),
			"the field 0":                event(field0, field(2, field(1, whole(a)))),
			"the field 0 in the object":  event(field(2, field0, field(1, whole(a)))),
			"the field 0 in an envelope": event(field(2, field(1, envelope(field0, field(1, kindOfPods), field(2, a))))),
			"the field 0 in the kind":    event(field(2, field(1, envelope(field(1, field0, kindOfPods), field(2, a))))),
			"a type that is a number":    event([]byte{1 << 3, 1}, field(2, field(1, whole(a)))),
			"an object that is a number": event(field(2, field(1, whole(a))), []byte{2 << 3, 1}),
			"raw that is a number":       event(field(2, field(1, whole(a)), []byte{1 << 3, 1})),
			"contents that are a number": event(field(2, field(1, envelope(field(1, kindOfPods), []byte{2 << 3, 1})))),
			"an encoding that is one":    event(field(2, field(1, envelope(field(1, kindOfPods), field(2, a), []byte{3 << 3, 1})))),
			"a kind that is a number":    event(field(2, field(1, envelope(field(1, kindOfPods, []byte{2 << 3, 1}), field(2, a))))),
			"no kind":                    event(field(2, field(1, envelope(field(2, a))))),
			"no version":                 event(field(2, field(1, envelope(field(1, field(2, []byte("Pod"))), field(2, a))))),
			"nothing in the envelope":    event(field(2, field(1, envelope()))),
		}},
		{runtime.ContentTypeJSON, map[string][]byte{
			"as usual":             []byte(`{"type":"ADDED","object":` + podJSON + `}`),
			"an object twice":      []byte(`{"type":"ADDED","object":{"kind":"Pod","apiVersion":"v1","spec":{"nodeName":"n"},"metadata":{"name":"b"}},"object":` + podJSON + `}`),
			"then null":            []byte(`{"type":"ADDED","object":` + podJSON + `,"object":null}`),
			"null, then an object": []byte(`{"type":"ADDED","object":null,"object":` + podJSON + `}`),
			"the object first":     []byte(`{"object":` + podJSON + `,"type":"ADDED"}`),
			"more than that":       []byte(`{"type":"ADDED","object":` + podJSON + `,"x":{}}`),
			"no kind":              []byte(`{"type":"ADDED","object":{"apiVersion":"v1","metadata":{"name":"a"}}}`),
			"no version":           []byte(`{"type":"ADDED","object":{"kind":"Pod","metadata":{"name":"a"}}}`),
			"no object":            []byte(`{"type":"ADDED","object":null}`),
			"a number":             []byte(`{"type":"ADDED","object":7}`),
			"not JSON":             []byte(`{"type":"ADDED","object":` + podJSON + `}}`),
		}},
	} {
		codec := codecOf[*corev1.Pod](t, test.mediaType)
		for name, frame := range test.frames {
			want, wantErr := podIn(test.mediaType, frame)
			got, err := codec.Event(frame)
			if err == nil && got.Invalid != nil {
				err = got.Invalid
			}
			if assert.Equal(t, wantErr == nil, err == nil, "%s, %s: %v, %v", test.mediaType, name, err, wantErr) && err == nil {
				assert.Equal(t, want, got.Object.Name, name)
				assert.Equal(t, "Pod", got.Kind.Kind, name)
				assert.Empty(t, got.Object.Spec.NodeName, name)
			}
		}
	}
}

// TestEventsWithoutAKind: an object that does not say what it is is rejected by its name,
// unless its type has no place for that.
func TestEventsWithoutAKind(t *testing.T) {
	t.Parallel()
	frame := []byte(`{"type":"MODIFIED","object":{"metadata":{"namespace":"shop","name":"a","resourceVersion":"7"}}}`)
	want := wire.Identity{Namespace: "shop", Name: "a", ResourceVersion: "7"}
	check := func(invalid *wire.ObjectError, err error) {
		t.Helper()
		require.NoError(t, err)
		require.ErrorContains(t, invalid, "no kind or apiVersion")
		assert.Equal(t, want, invalid.Identity)
	}
	typedEvent, err := codecOf[*corev1.Pod](t, runtime.ContentTypeJSON).Event(frame)
	check(typedEvent.Invalid, err)
	untyped, err := codecOf[*unstructured.Unstructured](t, runtime.ContentTypeJSON).Event(frame)
	check(untyped.Invalid, err)
	kindless, err := codecOf[*slim](t, runtime.ContentTypeJSON).Event(frame)
	require.NoError(t, err)
	assert.Equal(t, "a", kindless.Object.Metadata.Name)
	constant, err := codecOf[*ofOneKind](t, runtime.ContentTypeJSON).Event(frame)
	require.NoError(t, err)
	assert.Equal(t, "a", constant.Object.Name)

	raw, err := (&corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "a", ResourceVersion: "7"}}).Marshal()
	require.NoError(t, err)
	binary, err := codecOf[*corev1.Pod](t, runtime.ContentTypeProtobuf).Event(append(field(1, []byte("DELETED")), field(2, field(1, envelope(field(2, raw))))...))
	check(binary.Invalid, err)
	assert.Equal(t, watch.Deleted, binary.Type)
}

// ofOneKind is a type that says of which kind it is whatever its JSON says.
type ofOneKind struct {
	slimKind
	metav1.ObjectMeta `json:"metadata"`
}

type slimKind struct{}

func (slimKind) GetObjectKind() schema.ObjectKind { return schema.EmptyObjectKind }

// TestListsInUnusualWays: the items of a list are those that apimachinery finds, or there
// is an error.
func TestListsInUnusualWays(t *testing.T) {
	t.Parallel()
	a, b := podMessage(t, "a"), podMessage(t, "b")
	kind := field(1, field(1, []byte("v1")), field(2, []byte("PodList")))
	list := func(fields ...[]byte) []byte { return envelope(kind, field(2, fields...)) }
	meta := field(1, field(2, []byte("7")))
	wrong := "not a protobuf message"
	for _, test := range []struct {
		mediaType, name string
		text            []byte
		names, err      string
	}{
		{runtime.ContentTypeProtobuf, "as usual", list(meta, field(2, a), field(2, b)), "a b", "EOF"},
		{runtime.ContentTypeProtobuf, "a negative number", slices.Concat(envelope(negative, kind, field(2, negative, meta, field(2, a), negative)), negative), "a", "EOF"},
		{runtime.ContentTypeProtobuf, "the kind in two", envelope(field(1, field(1, []byte("v1"))), field(1, field(2, []byte("PodList"))), field(2, field(2, a))), "a", "EOF"},
		{runtime.ContentTypeProtobuf, "an item of the field 0", list(field(2, a), field(0, b)), "a", wrong},
		{runtime.ContentTypeProtobuf, "the field 0 beside the list", slices.Concat(list(field(2, a)), field0), "a", wrong},
		{runtime.ContentTypeProtobuf, "an item that is a number", list(field(2, a), []byte{2 << 3, 1}), "a", wrong},
		{runtime.ContentTypeProtobuf, "metadata that is a number", list([]byte{1 << 3, 1}, field(2, a)), "", wrong},
		{runtime.ContentTypeProtobuf, "a list that is a number", envelope(kind, []byte{2 << 3, 1}), "", wrong},
		{runtime.ContentTypeProtobuf, "two lists", envelope(kind, field(2, field(2, a)), field(2, field(2, b))), "a", "more than one list"},
		{runtime.ContentTypeProtobuf, "an item beyond the end", envelope(kind, []byte{2<<3 | 2, 3, 2<<3 | 2, 5, 1}, b), "", "beyond the end"},
		{runtime.ContentTypeJSON, "as usual", []byte(`{"kind":"PodList","items":[{"metadata":{"name":"a"}},{"metadata":{"name":"b"}}]}`), "a b", "EOF"},
		{runtime.ContentTypeJSON, "null", []byte(`{"kind":"PodList","items":null}`), "", "EOF"},
		{runtime.ContentTypeJSON, "an item that is null", []byte(`{"kind":"PodList","items":[{"metadata":{"name":"a"}},null,{"metadata":{"name":"b"}}]}`), "a  b", "EOF"},
		{runtime.ContentTypeJSON, "an item that is nothing", []byte(`{"kind":"PodList","items":[nul]}`), "", "no JSON object"},
		{runtime.ContentTypeJSON, "an item that is a number", []byte(`{"kind":"PodList","items":[5]}`), "", "expected a JSON object"},
		{runtime.ContentTypeJSON, "items twice", []byte(`{"items":[{"metadata":{"name":"a"}}],"items":[{"metadata":{"name":"b"}}]}`), "a", "items twice"},
		{runtime.ContentTypeJSON, "items, then null", []byte(`{"items":[{"metadata":{"name":"a"}}],"items":null}`), "a", "items twice"},
	} {
		codec := codecOf[*corev1.Pod](t, test.mediaType)
		items := codec.Items(bytes.NewReader(test.text))
		var names []string
		var err error
		for {
			var item []byte
			if item, err = items.Next(); err != nil {
				break
			}
			obj, err := codec.Item(item)
			require.NoError(t, err, test.name)
			names = append(names, obj.Name)
		}
		assert.Equal(t, test.names, strings.Join(names, " "), test.name)
		assert.ErrorContains(t, err, test.err, test.name)
		if err == io.EOF {
			assert.Equal(t, "PodList", items.Head().Kind, test.name)
		}
	}
}

// TestLargeItems: an item of a list may be longer than an event.
func TestLargeItems(t *testing.T) {
	t.Parallel()
	large := corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "a"}, Data: map[string]string{"x": strings.Repeat("x", wire.MaxFrame)}}
	list := &corev1.ConfigMapList{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "ConfigMapList"}, Items: []corev1.ConfigMap{large}}
	for _, mediaType := range []string{runtime.ContentTypeProtobuf, runtime.ContentTypeJSON} {
		var text bytes.Buffer
		require.NoError(t, infoOf(t, mediaType).Serializer.Encode(list, &text))
		codec := codecOf[*corev1.ConfigMap](t, mediaType)
		items := codec.Items(&text)
		item, err := items.Next()
		require.NoError(t, err, mediaType)
		obj, err := codec.Item(item)
		require.NoError(t, err, mediaType)
		assert.Len(t, obj.Data["x"], wire.MaxFrame)
		_, err = items.Next()
		assert.Equal(t, io.EOF, err)
	}
}

// TestObjectsWithoutAPlan: events of types that apimachinery has to decode are read as
// others are.
func TestObjectsWithoutAPlan(t *testing.T) {
	t.Parallel()
	codec := codecOf[*unplanned](t, runtime.ContentTypeJSON)
	for _, frame := range []string{`{"type":"ADDED","object":{"metadata":{"name":"a"},"n":"7"}}`, `{"object":{"metadata":{"name":"a"},"n":"7"},"type":"ADDED"}`} {
		event, err := codec.Event([]byte(frame))
		require.NoError(t, err)
		assert.Equal(t, 7, event.Object.N)
	}
	event, err := codec.Event([]byte(`{"type":"ADDED","object":{"metadata":{"name":"a"},"n":7}}`))
	require.NoError(t, err)
	assert.Equal(t, "a", event.Invalid.Identity.Name)
	_, err = codec.Event([]byte(`{"type":"ADDED","object":{"metadata":{"name":"a"},"n":"7"}}}`))
	require.Error(t, err)
	require.ErrorContains(t, wire.Unplanned[*unplanned](runtime.ContentTypeJSON, nil, nil), "decoded in an unusual way")
	require.NoError(t, wire.Unplanned[*slim](runtime.ContentTypeJSON, nil, nil))
	require.NoError(t, wire.Unplanned[*corev1.Pod](runtime.ContentTypeProtobuf, nil, nil))
	require.NoError(t, wire.Unplanned[*unstructured.Unstructured](runtime.ContentTypeJSON, nil, nil))
	require.NoError(t, wire.Unplanned[*podName](runtime.ContentTypeJSON, podAPI, nil), "somebody wants JSON")
	require.ErrorContains(t, wire.Unplanned[*unplanned](runtime.ContentTypeJSON, podAPI, nil), "they stay in JSON")
}

// TestEventsCostAsMuchAsTheirObjects: the envelope of an object is read without allocating.
func TestEventsCostAsMuchAsTheirObjects(t *testing.T) {
	object, err := json.Marshal(pod("a"))
	require.NoError(t, err)
	raw, err := pod("a").Marshal()
	require.NoError(t, err)
	inJSON := slices.Concat([]byte(`{"type":"MODIFIED","object":`), object, []byte(`}`))
	inProtobuf := slices.Concat(field(1, []byte("MODIFIED")), field(2, field(1, envelope(field(1, kindOfPods), field(2, raw)))))
	compare(t, codecOf[*corev1.Pod](t, runtime.ContentTypeJSON), object, inJSON)
	compare(t, codecOf[*corev1.Pod](t, runtime.ContentTypeProtobuf), raw, inProtobuf)
	compare(t, codecOf[*unstructured.Unstructured](t, runtime.ContentTypeJSON), object, inJSON)
}

func compare[T any](t *testing.T, codec wire.Codec[T], item, event []byte) {
	t.Helper()
	asItem := leastAllocations(func() { _, _ = codec.Item(item) })
	inEvent := leastAllocations(func() { _, _ = codec.Event(event) })
	assert.LessOrEqual(t, inEvent, asItem)
}

// leastAllocations returns how many f makes when its pools are full: a sync.Pool loses objects
// when memory is collected and, with the race detector, at random.
func leastAllocations(f func()) float64 {
	least := math.Inf(1)
	for range 100 {
		least = min(least, testing.AllocsPerRun(1, f))
	}
	return least
}

// unplanned is a struct of which there is no plan.
type unplanned struct {
	metav1.ObjectMeta `json:"metadata"`
	N                 int `json:"n,string"`
}
