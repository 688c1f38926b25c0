package simulation

import (
	"bytes"
	"encoding/json"
	"fmt"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/scheme"
)

// decode reads an object in JSON or protobuf, nil if it is neither.
func decode(text []byte) runtime.Object {
	if obj, _, err := scheme.Codecs.UniversalDeserializer().Decode(text, nil, nil); err == nil {
		return obj
	}
	loose := &unstructured.Unstructured{}
	if loose.UnmarshalJSON(text) == nil {
		return loose
	}
	return nil
}

// versionOf returns what to say of an answer: the version that it has.
func versionOf(text []byte) string {
	obj := decode(text)
	if list, err := meta.ListAccessor(obj); err == nil && meta.IsListType(obj) {
		return fmt.Sprintf(", %d objects at version %s", meta.LenList(obj), list.GetResourceVersion())
	}
	if one, err := meta.Accessor(obj); err == nil {
		return fmt.Sprintf(", %s at version %s", one.GetName(), one.GetResourceVersion())
	}
	return ""
}

// describeEvent returns what to say of an event of a watch.
func describeEvent(text []byte) string {
	var event metav1.WatchEvent
	if !bytes.HasPrefix(text, []byte("{")) {
		obj, ok := decode(text[min(4, len(text)):]).(*metav1.WatchEvent)
		if !ok {
			return fmt.Sprintf("%d bytes", len(text))
		}
		event = *obj
	} else if err := json.Unmarshal(text, &event); err != nil {
		return fmt.Sprintf("%d bytes", len(text))
	}
	obj := decode(event.Object.Raw)
	if status, ok := obj.(*metav1.Status); ok {
		return event.Type + " " + status.Message
	}
	one, err := meta.Accessor(obj)
	if err != nil {
		return event.Type
	}
	return fmt.Sprintf("%s %s/%s at version %s", event.Type, one.GetNamespace(), one.GetName(), one.GetResourceVersion())
}
