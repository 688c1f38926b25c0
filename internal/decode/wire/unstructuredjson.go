package wire

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/json"

	"github.com/kubetyped/informer/internal/decode/jsontree"
)

// unstructuredObjects are decoded into the contents of unstructured objects.
type unstructuredObjects struct{ decoder *jsontree.Decoder }

func (o unstructuredObjects) decode(text []byte, like *unstructured.Unstructured) (*unstructured.Unstructured, bool) {
	var content map[string]any
	if like != nil {
		content = like.Object
	}
	content, ok := o.decoder.Decode(text, content)
	if !ok {
		return nil, false
	}
	return &unstructured.Unstructured{Object: content}, true
}

func (unstructuredObjects) decodeAnyway(text []byte) (*unstructured.Unstructured, error) {
	obj := &unstructured.Unstructured{}
	if err := json.Unmarshal(text, &obj.Object); err != nil {
		return nil, err
	}
	return obj, nil
}

// kindOf implements jsonObjects. As apimachinery, it can do without a version.
func (unstructuredObjects) kindOf(obj *unstructured.Unstructured) (metav1.TypeMeta, error) {
	kind := metav1.TypeMeta{APIVersion: obj.GetAPIVersion(), Kind: obj.GetKind()}
	if kind.Kind == "" {
		return kind, checkKind(kind)
	}
	return kind, nil
}
