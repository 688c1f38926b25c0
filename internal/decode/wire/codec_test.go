package wire_test

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes/scheme"

	"github.com/kubetyped/informer/internal/decode/wire"
)

func pod(name string) *corev1.Pod {
	return &corev1.Pod{
		TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "Pod"},
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name, ResourceVersion: "7", Labels: map[string]string{"a": "b"}},
		Spec:       corev1.PodSpec{NodeName: "node-1", Containers: []corev1.Container{{Name: "c", Image: "i"}}},
	}
}

func infoOf(t testing.TB, mediaType string) runtime.SerializerInfo {
	info, ok := runtime.SerializerInfoForMediaType(scheme.Codecs.SupportedMediaTypes(), mediaType)
	require.True(t, ok)
	return info
}

// eventText encodes an event as API servers do.
func eventText(t testing.TB, mediaType string, kind watch.EventType, obj runtime.Object) []byte {
	info := infoOf(t, mediaType)
	var object, frame bytes.Buffer
	require.NoError(t, info.Serializer.Encode(obj, &object))
	event := &metav1.WatchEvent{Type: string(kind), Object: runtime.RawExtension{Raw: object.Bytes()}}
	require.NoError(t, info.StreamSerializer.Encode(event, info.StreamSerializer.NewFrameWriter(&frame)))
	return frame.Bytes()
}

func one[T any](t testing.TB, codec wire.Codec[T], text []byte) (wire.Event[T], error) {
	frame, err := codec.Frames(bytes.NewReader(text)).Next()
	require.NoError(t, err)
	return codec.Event(frame)
}

// checkCodec decodes events and a list of Pods in one format.
func checkCodec[T any](t *testing.T, mediaType string, want func(*corev1.Pod, bool) T) {
	t.Run(fmt.Sprintf("%T in %s", *new(T), mediaType), func(t *testing.T) {
		codec := codecOf[T](t, mediaType)
		for _, kind := range []watch.EventType{watch.Added, watch.Modified, watch.Deleted} {
			event, err := one(t, codec, eventText(t, mediaType, kind, pod("a")))
			require.NoError(t, err)
			assert.Equal(t, kind, event.Type)
			assert.Equal(t, want(pod("a"), true), event.Object)
			assert.Equal(t, metav1.TypeMeta{APIVersion: "v1", Kind: "Pod"}, event.Kind)
		}
		mark := &corev1.Pod{TypeMeta: pod("").TypeMeta, ObjectMeta: metav1.ObjectMeta{ResourceVersion: "9", Annotations: map[string]string{"x": "y"}}}
		event, err := one(t, codec, eventText(t, mediaType, watch.Bookmark, mark))
		require.NoError(t, err)
		assert.Equal(t, mark.ObjectMeta, event.Bookmark.ObjectMeta)

		status := &metav1.Status{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Status"}, Status: "Failure", Reason: "Expired", Code: 410, Message: "gone"}
		event, err = one(t, codec, eventText(t, mediaType, watch.Error, status))
		require.NoError(t, err)
		assert.Equal(t, "Failure Expired 410 gone", fmt.Sprint(event.Status.Status, " ", event.Status.Reason, " ", event.Status.Code, " ", event.Status.Message))

		_, err = one(t, codec, eventText(t, mediaType, "SURPRISE", pod("a")))
		assert.ErrorContains(t, err, `unknown type of 8 bytes`)

		list := &corev1.PodList{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "PodList"}, ListMeta: metav1.ListMeta{ResourceVersion: "8", Continue: "more"}}
		for _, name := range []string{"a", "b"} {
			item := pod(name)
			item.TypeMeta = metav1.TypeMeta{}
			list.Items = append(list.Items, *item)
		}
		var text bytes.Buffer
		require.NoError(t, infoOf(t, mediaType).Serializer.Encode(list, &text))
		items := codec.Items(bytes.NewReader(text.Bytes()))
		for i := range list.Items {
			item, err := items.Next()
			require.NoError(t, err)
			obj, err := codec.Item(item)
			require.NoError(t, err)
			assert.Equal(t, want(&list.Items[i], false), obj)
		}
		_, err = items.Next()
		assert.Equal(t, io.EOF, err)
		assert.Equal(t, wire.Head{TypeMeta: list.TypeMeta, ListMeta: list.ListMeta}, *items.Head())

		for cut := range text.Len() {
			items := codec.Items(bytes.NewReader(text.Bytes()[:cut]))
			_, _, err := all(items)
			if mediaType == runtime.ContentTypeJSON && cut == text.Len()-1 {
				assert.Equal(t, io.EOF, err, "but for the line's end")
			} else if mediaType != runtime.ContentTypeProtobuf || cut < text.Len()-4 { // of the empty fields at the end
				assert.NotEqual(t, io.EOF, err, "cut off after %d of %d bytes", cut, text.Len())
			}
		}
	})
}

func TestCodecs(t *testing.T) {
	typed := func(p *corev1.Pod, _ bool) *corev1.Pod { return p }
	checkCodec(t, runtime.ContentTypeJSON, typed)
	checkCodec(t, runtime.ContentTypeProtobuf, func(p *corev1.Pod, _ bool) *corev1.Pod {
		p.TypeMeta = metav1.TypeMeta{}
		return p
	})
	content := func(p *corev1.Pod, _ bool) *unstructured.Unstructured {
		object, err := runtime.DefaultUnstructuredConverter.ToUnstructured(p)
		require.NoError(t, err)
		return &unstructured.Unstructured{Object: object}
	}
	checkCodec(t, runtime.ContentTypeJSON, content)
}

// slim is a Pod with two of its fields.
type slim struct {
	Metadata struct {
		Name string `json:"name"`
	} `json:"metadata"`
	Spec struct {
		NodeName string `json:"nodeName"`
	} `json:"spec"`
}

func TestNamedFields(t *testing.T) {
	codec := codecOf[*slim](t, runtime.ContentTypeJSON)
	event, err := one(t, codec, eventText(t, runtime.ContentTypeJSON, watch.Added, pod("a")))
	require.NoError(t, err)
	assert.Equal(t, "a node-1", event.Object.Metadata.Name+" "+event.Object.Spec.NodeName)
	assert.Zero(t, event.Kind, "it has no room for it")
}

func TestUndecodableEvents(t *testing.T) {
	codec := codecOf[*corev1.Pod](t, runtime.ContentTypeJSON)
	for text, message := range map[string]string{
		`{}`:                             "without an object",
		`{"object":{}}`:                  "unknown type",
		`{"type":"ADDED"}`:               "without an object",
		`{"type":"ADDED","object":null}`: "without an object",
		`{"type":"BOOKMARK"}`:            "without an object",
		`{"type":"ERROR"}`:               "without an object",
		`{"type":"ADDED","object":{"metadata":{"name":5}}}`: "cannot unmarshal number",
		`{"type":"ADDED","object":{]}`:                      "invalid character",
		`{"type":5,"object":{}}`:                            "cannot unmarshal number",
	} {
		_, err := codec.Event([]byte(text))
		assert.ErrorContains(t, err, message, text)
		assert.NotErrorAs(t, err, new(*wire.ObjectError), text)
	}
	for _, mediaType := range []string{"text/html", "application/yaml", runtime.ContentTypeCBOR, ""} {
		_, err := wire.NewCodec[*corev1.Pod](mediaType, nil, nil, nil)
		assert.ErrorContains(t, err, "none of the media types", mediaType)
	}
	_, err := wire.NewCodec[corev1.Pod](runtime.ContentTypeJSON, nil, nil, nil)
	assert.ErrorContains(t, err, "pointers to structs, and v1.Pod is none")
}

// TestUndecodableObjects: an object that cannot be decoded is identified, as far as its text names
// it, and the rest of the response can be read.
func TestUndecodableObjects(t *testing.T) {
	codec := codecOf[*corev1.Pod](t, runtime.ContentTypeJSON)
	for text, want := range map[string]wire.Identity{
		`{"metadata":{"namespace":"d","name":"c","resourceVersion":"77","labels":[]}}`:              {Namespace: "d", Name: "c", ResourceVersion: "77"},
		`{"spec":7,"metadata":{"name":"c"}}`:                                                        {Name: "c"},
		`{"metadata":{"namespace":5,"name":"c","resourceVersion":{}}}`:                              {Name: "c"},
		`{"metadata":{"name":"c","creationTimestamp":"never"}}`:                                     {Name: "c"},
		`{"metadata":{"name":"c"},"spec":{"containers":[{"resources":{"limits":{"cpu":"lots"}}}]}}`: {Name: "c"},
	} {
		for _, kind := range []watch.EventType{watch.Added, watch.Modified, watch.Deleted} {
			for _, frame := range []string{`{"type":"` + string(kind) + `","object":` + text + `}`, `{"object":` + text + `,"type":"` + string(kind) + `"}`} {
				event, err := codec.Event([]byte(frame))
				require.NoError(t, err, frame)
				require.NotNil(t, event.Invalid, frame)
				assert.Equal(t, want, event.Invalid.Identity)
				assert.Equal(t, kind, event.Type)
				assert.Nil(t, event.Object)
				assert.Error(t, event.Invalid.Err)
			}
		}
		_, err := codec.Item([]byte(text))
		var invalid *wire.ObjectError
		require.ErrorAs(t, err, &invalid, text)
		assert.Equal(t, want, invalid.Identity)
	}
	var invalid *wire.ObjectError
	_, err := codec.Item([]byte(`{"metadata":7}`))
	require.ErrorAs(t, err, &invalid, "a list can do without it, whichever it is")
	assert.Zero(t, invalid.Identity)
	_, err = codec.Item([]byte(`{"metadata":{"name":"c"},"spec":{]}`))
	require.Error(t, err)
	assert.NotErrorAs(t, err, &invalid, "who knows what else is wrong with the text")

	bad, err := pod("c").Marshal()
	require.NoError(t, err)
	bad = append(bad, 0x12, 0x01, 0xff) // a spec that is no message
	want := wire.Identity{Namespace: "default", Name: "c", ResourceVersion: "7"}
	protobuf := codecOf[*corev1.Pod](t, runtime.ContentTypeProtobuf)
	_, err = protobuf.Item(bad)
	require.ErrorAs(t, err, &invalid)
	assert.Equal(t, want, invalid.Identity)
	raw := runtime.Unknown{TypeMeta: runtime.TypeMeta{APIVersion: "v1", Kind: "Pod"}, Raw: bad}
	object, err := raw.Marshal()
	require.NoError(t, err)
	frame, err := (&metav1.WatchEvent{Type: "DELETED", Object: runtime.RawExtension{Raw: append([]byte("k8s\x00"), object...)}}).Marshal()
	require.NoError(t, err)
	event, err := protobuf.Event(frame)
	require.NoError(t, err)
	assert.Equal(t, want, event.Invalid.Identity)
	assert.Equal(t, watch.Deleted, event.Type)
	assert.Nil(t, event.Object)
}

// TestListsWithoutItems: a list may leave out that it is empty.
func TestListsWithoutItems(t *testing.T) {
	text := `{"kind":"PodList","apiVersion":"v1","metadata":{"resourceVersion":"7"}}`
	items := codecOf[*corev1.Pod](t, runtime.ContentTypeJSON).Items(strings.NewReader(text))
	_, err := items.Next()
	assert.Equal(t, io.EOF, err)
	assert.Equal(t, "7", items.Head().ResourceVersion)
	for kind, message := range map[string]string{"PodList": "EOF", "Status": "not a list, but a Status of v1"} {
		text := `{"apiVersion":"v1","kind":"` + kind + `"}`
		_, err := codecOf[*unstructured.Unstructured](t, runtime.ContentTypeJSON).Items(strings.NewReader(text)).Next()
		assert.ErrorContains(t, err, message)
	}
}

// TestErrorsShowNoContent: errors describe a wrong response without its contents, which may be
// secret.
func TestErrorsShowNoContent(t *testing.T) {
	const secret = "hunter2"
	for _, mediaType := range []string{runtime.ContentTypeJSON, runtime.ContentTypeProtobuf} {
		codec := codecOf[*corev1.Secret](t, mediaType)
		for _, text := range []string{
			secret, `{"type":"` + secret + `","object":{"metadata":{"name":"a"}}}`, `{"items":[{},` + secret + `]}`, `{"items":["` + secret + `"]}`,
			`{"kind":"SecretList","items":[]} ` + secret, `{` + secret, `{"` + secret + `":1 ` + secret, `{"metadata":"` + secret + `"}`,
			`{"type":"ADDED","object":{"data":{"x":"` + secret + `!"}}}`, `{"type":"ADDED","object":"` + secret + `"}`, `{"items":[{"data":"` + secret + `"}]}`,
			"k8s\x00" + secret, "\x00\x00\x00\x07" + secret, "\x00\x00\x00\x09\x12\x07" + secret, "\x00\x00\x00\x0b\x12\x09\x0a\x07" + secret,
		} {
			for _, err := range []error{pipe(codec.Frames(strings.NewReader(text)), codec.Event), pipe(codec.Items(strings.NewReader(text)), codec.Item)} {
				if err != nil {
					assert.NotContains(t, err.Error(), secret[:4], "%s: %q", mediaType, text)
				}
			}
		}
	}
}

// pipe decodes all frames, and returns what that ends with.
func pipe[R any](frames wire.Frames, decode func([]byte) (R, error)) error {
	return wire.NewPipeline(1, decode, func(R) bool { return true }, func() {}).Run(frames)
}

// FuzzProtobufEvent decodes anything: what apimachinery's serializers can decode
// gives the same, and nothing panics.
func FuzzProtobufEvent(f *testing.F) {
	for _, text := range [][]byte{
		eventText(f, runtime.ContentTypeProtobuf, watch.Added, pod("a")),
		append(eventText(f, runtime.ContentTypeProtobuf, watch.Deleted, pod("a")), 0x12, 0x01, 0xff),
		eventText(f, runtime.ContentTypeProtobuf, watch.Error, &metav1.Status{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Status"}, Code: 410}),
	} {
		f.Add(text[4:])
	}
	f.Fuzz(func(t *testing.T, frame []byte) {
		event, err := codecOf[*corev1.Pod](t, runtime.ContentTypeProtobuf).Event(frame)
		var reference metav1.WatchEvent
		var unknown runtime.Unknown
		var object corev1.Pod
		if reference.Unmarshal(frame) != nil || len(reference.Object.Raw) < 4 || unknown.Unmarshal(reference.Object.Raw[4:]) != nil {
			return
		}
		if object.Unmarshal(unknown.Raw) != nil {
			assert.True(t, err != nil || event.Object == nil, "it is no Pod")
			assert.True(t, event.Invalid == nil || event.Invalid.Identity.Name != "")
			return
		}
		if err == nil && event.Object != nil {
			assert.Equal(t, &object, event.Object)
			assert.Equal(t, reference.Type, string(event.Type))
		}
	})
}

// FuzzItems reads anything as a list in protobuf or JSON: it ends, and nothing
// panics.
func FuzzItems(f *testing.F) {
	for _, mediaType := range []string{runtime.ContentTypeProtobuf, runtime.ContentTypeJSON} {
		var text bytes.Buffer
		list := &corev1.PodList{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "PodList"}, Items: []corev1.Pod{*pod("a")}}
		require.NoError(f, infoOf(f, mediaType).Serializer.Encode(list, &text))
		f.Add(text.Bytes())
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		read(t, codecOf[*corev1.Pod](t, runtime.ContentTypeProtobuf), text)
		read(t, codecOf[*unstructured.Unstructured](t, runtime.ContentTypeJSON), text)
	})
}

// read reads a text as a list and as a watch.
func read[T any](t *testing.T, codec wire.Codec[T], text []byte) {
	for _, p := range []struct {
		frames wire.Frames
		decode func([]byte) (bool, error)
	}{
		{codec.Items(bytes.NewReader(text)), func(b []byte) (bool, error) { _, err := codec.Item(b); return true, err }},
		{codec.Frames(bytes.NewReader(text)), func(b []byte) (bool, error) { _, err := codec.Event(b); return true, err }},
	} {
		err := wire.NewPipeline(2, p.decode, func(bool) bool { return true }, func() {}).Run(p.frames)
		if err != nil {
			var frame *wire.FrameError
			assert.ErrorAs(t, err, &frame)
			assert.LessOrEqual(t, frame.Offset, int64(len(text)))
		}
	}
}
