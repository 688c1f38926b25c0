package differential

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer/protobuf"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	"k8s.io/client-go/kubernetes/scheme"

	"github.com/kubetyped/informer/internal/decode/wire"
)

// Events decodes events of Pods, in which the bytes around the object were changed. A decoder
// may reject input that apimachinery accepts, but must not return another result.
func Events(t *testing.T, r *rand.Rand) {
	t.Helper()
	for _, mediaType := range []string{runtime.ContentTypeProtobuf, runtime.ContentTypeJSON} {
		codec := podCodec(t, mediaType)
		for range states {
			frame := changedEvent(r, mediaType)
			want, wantErr := referenceEvent(mediaType, frame)
			got, err := codec.Event(slices.Clone(frame))
			if err != nil || got.Object == nil || got.Kind != (metav1.TypeMeta{APIVersion: "v1", Kind: "Pod"}) {
				continue
			}
			switch pod := got.Object.(*corev1.Pod); {
			case wantErr != nil:
				t.Errorf("%s: got an event, want the error %v\n%q", mediaType, wantErr, frame)
			case string(got.Type) != want.Type || !reflect.DeepEqual(want.Object.Object, pod):
				t.Errorf("%s: got %s %s, want %s %s\n%q", mediaType, got.Type, show(pod), want.Type, show(want.Object.Object), frame)
			}
		}
	}
}

func podCodec(t *testing.T, mediaType string) wire.Codec[any] {
	t.Helper()
	codec, err := wire.NewCodecOf(mediaType, reflect.TypeFor[*corev1.Pod](), func(string, string) (any, bool) { return nil, false }, nil)
	if err != nil {
		t.Fatal(err)
	}
	return codec
}

// smallPod returns one of few Pods.
func smallPod(r *rand.Rand) *corev1.Pod {
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprint("a-", r.IntN(3)), Namespace: "shop", ResourceVersion: fmt.Sprint(r.IntN(100)), Labels: map[string]string{"a": "b"}},
		Spec:       corev1.PodSpec{NodeName: "n"},
	}
}

// changedEvent returns an event that is changed at one place around its object.
func changedEvent(r *rand.Rand, mediaType string) []byte {
	pod, t := smallPod(r), one(r, []string{"ADDED", "MODIFIED", "DELETED"})
	if mediaType == runtime.ContentTypeJSON {
		pod.TypeMeta = metav1.TypeMeta{APIVersion: "v1", Kind: "Pod"}
		text, _ := json.Marshal(pod)
		return changeText(r, fmt.Appendf(nil, `{"type":%q,"object":%s}`, t, text))
	}
	raw, _ := pod.Marshal()
	unknown, _ := (&runtime.Unknown{TypeMeta: runtime.TypeMeta{APIVersion: "v1", Kind: "Pod"}, Raw: raw}).Marshal()
	place := r.IntN(3)
	changed := func(at int, message []byte) []byte {
		if at != place {
			return message
		}
		return changeMessage(r, message, 0)
	}
	object := join([]part{{number: 1, wire: bytesType, value: append([]byte("k8s\x00"), changed(0, unknown)...)}})
	return changed(2, join([]part{{number: 1, wire: bytesType, value: []byte(t)}, {number: 2, wire: bytesType, value: changed(1, object)}}))
}

// referenceEvent returns what apimachinery makes of an event.
func referenceEvent(mediaType string, frame []byte) (e metav1.WatchEvent, err error) {
	if mediaType == runtime.ContentTypeJSON {
		err = utiljson.Unmarshal(frame, &e)
	} else {
		err = e.Unmarshal(frame)
	}
	if err == nil {
		e.Object.Object, _, err = serializerOf(mediaType).Decode(e.Object.Raw, nil, nil)
	}
	if pod, ok := e.Object.Object.(*corev1.Pod); ok && mediaType == runtime.ContentTypeProtobuf {
		pod.TypeMeta = metav1.TypeMeta{} // which is set later
	}
	return e, err
}

func serializerOf(mediaType string) runtime.Serializer {
	if mediaType == runtime.ContentTypeProtobuf {
		return protobuf.NewSerializer(scheme.Scheme, scheme.Scheme)
	}
	info, _ := runtime.SerializerInfoForMediaType(scheme.Codecs.SupportedMediaTypes(), mediaType)
	return info.Serializer
}

// Lists decodes lists of Pods, in which the bytes around the items were changed. A decoder may
// reject input that apimachinery accepts, but must not return another result.
func Lists(t *testing.T, r *rand.Rand) {
	t.Helper()
	for _, mediaType := range []string{runtime.ContentTypeProtobuf, runtime.ContentTypeJSON} {
		codec := podCodec(t, mediaType)
		for range states {
			text := changedList(r, mediaType)
			got, err := readList(codec, text)
			if err != nil || got.Kind != "" && got.Kind != "PodList" || got.APIVersion != "" && got.APIVersion != "v1" {
				continue
			}
			got.TypeMeta = metav1.TypeMeta{}
			want := &corev1.PodList{}
			if _, _, wantErr := serializerOf(mediaType).Decode(text, nil, want); wantErr != nil {
				t.Errorf("%s: got a list, want the error %v\n%q", mediaType, wantErr, text)
				continue
			}
			want.TypeMeta = metav1.TypeMeta{}
			if len(want.Items) == 0 {
				want.Items = nil
			}
			if !reflect.DeepEqual(want, got) {
				t.Errorf("%s: got %s, want %s\n%q", mediaType, show(got), show(want), text)
			}
		}
	}
}

// changedList returns a list that is changed at one place around its items.
func changedList(r *rand.Rand, mediaType string) []byte {
	list := &corev1.PodList{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "PodList"}, ListMeta: metav1.ListMeta{ResourceVersion: "7", Continue: "x"}}
	for range r.IntN(3) {
		list.Items = append(list.Items, *smallPod(r))
	}
	if mediaType == runtime.ContentTypeJSON {
		text, _ := json.Marshal(list)
		return changeText(r, text)
	}
	raw, _ := list.Marshal()
	around := rarely(r, 2)
	if !around {
		raw = changeMessage(r, raw, 0)
	}
	text, _ := (&runtime.Unknown{TypeMeta: runtime.TypeMeta{APIVersion: "v1", Kind: "PodList"}, Raw: raw}).Marshal()
	if around {
		text = changeMessage(r, text, 0)
	}
	return append([]byte("k8s\x00"), text...)
}

// readList reads a list.
func readList(codec wire.Codec[any], text []byte) (*corev1.PodList, error) {
	list := &corev1.PodList{}
	items := codec.Items(bytes.NewReader(text))
	for {
		item, err := items.Next()
		if err == io.EOF {
			list.TypeMeta, list.ListMeta = items.Head().TypeMeta, items.Head().ListMeta
			return list, nil
		}
		if err != nil {
			return nil, err
		}
		obj, err := codec.Item(slices.Clone(item))
		if err != nil {
			return nil, err
		}
		list.Items = append(list.Items, *obj.(*corev1.Pod))
	}
}
