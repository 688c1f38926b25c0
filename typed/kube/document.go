package kube

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	utiljson "k8s.io/apimachinery/pkg/util/json"

	"github.com/kubetyped/informer/index"
	"github.com/kubetyped/informer/internal/goroutine"
)

// document is an object as it is sent: its JSON, with its kind.
type document struct {
	fields   jsonObject
	metadata sentMetadata
}

// sentMetadata is what matters of the metadata of an object that is sent.
type sentMetadata struct {
	Name            string          `json:"name"`
	GenerateName    string          `json:"generateName"`
	Namespace       string          `json:"namespace"`
	UID             string          `json:"uid"`
	ResourceVersion string          `json:"resourceVersion"`
	ManagedFields   json.RawMessage `json:"managedFields"`
}

// newDocument encodes an object of a resource, and leaves the object as it is.
func newDocument[T index.Object](obj T, d *description) (*document, error) {
	text, err := json.Marshal(obj)
	if err != nil {
		return nil, fmt.Errorf("cannot encode: %w", err)
	}
	doc := &document{}
	var ok bool
	if doc.fields, ok = readObject(bytes.TrimSpace(text)); !ok {
		return nil, errors.New("JSON is no object")
	}
	if metadata, ok := doc.fields["metadata"]; ok {
		if err := utiljson.Unmarshal(metadata, &doc.metadata); err != nil {
			return nil, fmt.Errorf("metadata is invalid: %w", err)
		}
	}
	key, err := identify(obj)
	if err != nil {
		return nil, err
	}
	if m := doc.metadata; m.Name != key.Name || m.Namespace != key.Namespace {
		return nil, fmt.Errorf("name %q and namespace %q in JSON, but GetName and GetNamespace return %q and %q: check the JSON tags of %v",
			m.Name, m.Namespace, key.Name, key.Namespace, reflect.TypeFor[T]())
	}
	return doc, doc.setKind(d, isPartial[T]())
}

// identify returns the key of an object, or an error if its methods panic, which they do if it
// embeds a nil pointer.
func identify[T index.Object](obj T) (key index.Key, err error) {
	defer func() {
		if p := recover(); p != nil {
			of := reflect.TypeFor[T]()
			err = fmt.Errorf("%w; if a %v embeds a pointer to its metadata, set it", &goroutine.PanicError{Of: fmt.Sprintf("GetName or GetNamespace of %v", of), Value: p}, of)
		}
	}()
	return index.KeyOf(obj), nil
}

// setKind gives the document the kind of the resource's objects. It returns an error if the
// document has another kind, unless it is metadata alone, which has its own kind.
func (d *document) setKind(of *description, partial bool) error {
	var kind metav1.TypeMeta
	for name, value := range map[string]*string{"kind": &kind.Kind, "apiVersion": &kind.APIVersion} {
		if text, ok := d.fields[name]; ok {
			if err := json.Unmarshal(text, value); err != nil {
				return fmt.Errorf("field %s is no string: %w", name, err)
			}
		}
	}
	apiVersion, wanted := of.kind.ToAPIVersionAndKind()
	kind = metav1.TypeMeta{Kind: cmp.Or(kind.Kind, wanted), APIVersion: cmp.Or(kind.APIVersion, apiVersion)}
	if !partial && kind.GroupVersionKind() != of.kind {
		return strayError(kind, of.kind)
	}
	return errors.Join(d.fields.set("kind", wanted), d.fields.set("apiVersion", apiVersion))
}

// isPartial reports whether T is nothing but metadata.
func isPartial[T index.Object]() bool {
	return isMetadata(reflect.TypeFor[T]())
}

func isMetadata(of reflect.Type) bool { return of == reflect.TypeFor[*metav1.PartialObjectMetadata]() }
