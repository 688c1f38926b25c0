package kube

import (
	"errors"
	"fmt"
	"reflect"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubetyped/informer/internal/answers"
	"github.com/kubetyped/informer/internal/decode/plan"
)

// AnswerDecoder returns what decodes answers to writes of a kind into objects of the type of
// example, as NewDecodingListerWatcher does with lists and watches, for package adapters. If
// only the version of the kind is set, objects of all kinds of that version are decoded.
// Of the options, WithFields and WithoutFields can be used. It returns an error if the kind is
// not known, or there is no way to decode the type.
func (*Writes) AnswerDecoder(example runtime.Object, kind schema.GroupVersionKind, opts ...SourceOption) (answers.Decode[metav1.Object], error) {
	of := reflect.TypeOf(example)
	_, mask, err := maskOf(opts)
	if err == nil && (example == nil || kind.Empty()) {
		err = errors.New("their kind is not known, or there are several")
	}
	if err != nil {
		return nil, fmt.Errorf("own writes of objects of type %v: %w", of, err)
	}
	switch example.(type) {
	case *unstructured.Unstructured:
		return decoderOf[*unstructured.Unstructured](of, mask, kind, schema.GroupVersionKind{})
	case *metav1.PartialObjectMetadata:
		as := kind
		if kind.Kind == "" {
			as = schema.GroupVersionKind{} // as metadata clients leave it
		}
		return decoderOf[*metav1.PartialObjectMetadata](of, mask, kind, as)
	}
	return decoderOf[apiObject](of, mask, kind, schema.GroupVersionKind{})
}

// decoderOf returns what decodes objects of a kind, or metadata alone, and returns an error
// for others. Objects that are not unstructured are given another kind.
func decoderOf[T apiObject](of reflect.Type, mask *plan.Mask, wanted, given schema.GroupVersionKind) (answers.Decode[metav1.Object], error) {
	codecs, err := codecsOf[T](of, nil, mask)
	decode := answerDecoder(codecs, stamp[T](given))
	return func(mediaType string, kind schema.GroupVersionKind, object []byte) (metav1.Object, error) {
		if !isPartial[T]() && kind != wanted && (wanted.Kind != "" || kind.GroupVersion() != wanted.GroupVersion()) {
			return nil, fmt.Errorf("kind is %s, want %s", kind, wanted)
		}
		obj, err := decode(mediaType, kind, object)
		if err != nil {
			return nil, err
		}
		return obj, nil
	}, err
}
