package kube

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	"k8s.io/client-go/rest"

	"github.com/kubetyped/informer/index"
)

// message is what a Writer sends.
type message struct {
	contentType  string     // "": JSON
	fields       jsonObject // what is sent, or
	body         []byte     // the text of it
	options      runtime.Object
	subresources []string
	collection   bool // it goes to all objects: the name is not in the path
}

// document encodes an object, and returns its key.
func (w *Writer[T]) document(ctx context.Context, obj T) (key index.Key, doc *document, err error) {
	var none T
	if index.Same(obj, none) {
		return key, nil, errors.New("object is nil")
	}
	if key, err = identify(obj); err != nil {
		return key, nil, err
	}
	d, err := w.describe(ctx)
	if err != nil {
		return key, nil, err
	}
	doc, err = newDocument(obj, d)
	return key, doc, err
}

// describe returns what the server says of the resource.
func (w *Writer[T]) describe(ctx context.Context) (*description, error) {
	if d := w.known.Load(); d != nil {
		return d, nil
	}
	return w.discover(ctx)
}

// discover asks the server for the resource.
func (w *Writer[T]) discover(ctx context.Context) (*description, error) {
	r := w.resource
	var err error
	if r.Empty() && w.config.mapper != nil {
		if r, err = r.locate(ctx, w.client.requests, &w.config); err != nil {
			return nil, err
		}
	}
	d, err := r.discover(ctx, w.client.requests)
	if err != nil {
		return nil, err
	}
	if known := w.resource.kind; !known.Empty() && known != d.kind {
		return nil, fmt.Errorf("kind of the resource is %s of %s, and %v is registered as a %s of %s: change WithResource, or the type",
			d.kind.Kind, d.kind.GroupVersion(), reflect.TypeFor[T](), known.Kind, known.GroupVersion())
	}
	if err := d.checkNamespace(w.config.namespace); err != nil {
		return nil, err
	}
	w.known.Store(&d)
	return &d, nil
}

// path returns the URL path for a key, or what is wrong with the key.
func (w *Writer[T]) path(ctx context.Context, key index.Key, m *message) ([]string, error) {
	if key.Name == "" && !m.collection {
		return nil, errors.New("name is missing")
	}
	d, err := w.describe(ctx)
	if err != nil {
		return nil, err
	}
	namespace := cmp.Or(key.Namespace, w.config.namespace)
	switch {
	case !d.namespaced && namespace != "":
		return nil, fmt.Errorf("the namespace is %q, and %s have none", namespace, d)
	case d.namespaced && namespace == "":
		return nil, fmt.Errorf("namespace is missing for %s: set it, or use WithNamespace", d)
	case w.config.namespace != "" && namespace != w.config.namespace:
		return nil, fmt.Errorf("the namespace is %q, and WithNamespace names %q", namespace, w.config.namespace)
	}
	if slices.Contains(m.subresources, "") {
		return nil, errors.New("a subresource has no name: leave it out to write the object itself")
	}
	for _, part := range append([]string{namespace, key.Name}, m.subresources...) {
		if problems := rest.IsValidPathSegmentName(part); len(problems) > 0 {
			return nil, fmt.Errorf("%q %s", part, strings.Join(problems, ", "))
		}
	}
	path := d.path(namespace)
	if m.collection {
		return path, nil
	}
	if sub := strings.Join(m.subresources, "/"); sub != "" && !slices.Contains(d.subresources, sub) {
		if d, err = w.discover(ctx); err != nil {
			return nil, err
		}
		if !slices.Contains(d.subresources, sub) {
			return nil, fmt.Errorf("%s have no subresource %s; for a custom resource, it stands in the CustomResourceDefinition", d, sub)
		}
	}
	return append(append(path, key.Name), m.subresources...), nil
}

// send sends a message about the object with a key, and returns the answer.
func (w *Writer[T]) send(ctx context.Context, request *rest.Request, key index.Key, m message) (rest.Result, error) {
	path, err := w.path(ctx, key, &m)
	if err != nil {
		return rest.Result{}, err
	}
	if m.fields != nil {
		if m.body, err = json.Marshal(m.fields); err != nil {
			return rest.Result{}, err
		}
	}
	request = request.AbsPath(path...).SetHeader("Accept", w.client.acceptHeader(false))
	if m.options != nil {
		request = request.SpecificallyVersionedParams(m.options, parameters, schema.GroupVersion{Version: "v1"})
	}
	if m.body != nil {
		request = request.SetHeader("Content-Type", cmp.Or(m.contentType, runtime.ContentTypeJSON)).Body(m.body)
	}
	result := request.Do(ctx)
	return result, result.Error()
}

// exchange sends a message about the object with a key, and decodes the answer.
func (w *Writer[T]) exchange(ctx context.Context, request *rest.Request, key index.Key, m message) (answer T, err error) {
	result, err := w.send(ctx, request, key, m)
	if err != nil {
		return answer, err
	}
	var contentType string
	text, err := result.ContentType(&contentType).Raw()
	if err == nil {
		_, err = w.client.codec(contentType)
	}
	if err == nil {
		answer, err = w.decode(text)
	}
	if err != nil {
		err = fmt.Errorf("the server has accepted the request, but its answer cannot be used: %w", err)
	}
	return answer, err
}

// decode decodes an object in JSON.
func (w *Writer[T]) decode(text []byte) (T, error) {
	var none T
	d := w.known.Load()
	var kind metav1.TypeMeta
	if err := utiljson.Unmarshal(text, &kind); err != nil {
		return none, err
	}
	if !isPartial[T]() && kind.GroupVersionKind() != d.kind {
		return none, strayError(kind, d.kind)
	}
	obj, err := w.client.codecs[runtime.ContentTypeJSON].Item(text)
	if err != nil {
		return none, err
	}
	set := schema.GroupVersionKind{}
	if w.config.typeMeta {
		set = d.kind
	}
	stamp[T](set)(obj)
	return obj, nil
}

// difference returns the patch from one state of an object to another, empty if they
// are the same.
func (w *Writer[T]) difference(ctx context.Context, old, updated *document, subresources []string) (jsonObject, error) {
	a, b := old.metadata, updated.metadata
	if a.Name != b.Name || a.Namespace != b.Namespace || a.UID != b.UID || a.ResourceVersion != b.ResourceVersion {
		return nil, fmt.Errorf("the updated state is of %s/%s, UID %q, version %q, and the old one of %s/%s, UID %q, version %q; change a copy of the old one",
			b.Namespace, b.Name, b.UID, b.ResourceVersion, a.Namespace, a.Name, a.UID, a.ResourceVersion)
	}
	patch, err := mergePatch(old.fields, updated.fields)
	if err == nil && !w.full {
		err = keepFields(reflect.TypeFor[T](), old.fields, patch)
	}
	if err != nil || len(patch) == 0 {
		return nil, err
	}
	d, err := w.describe(ctx)
	if err != nil {
		return nil, err
	}
	switch _, changesStatus := patch["status"]; {
	case slices.Equal(subresources, []string{"status"}):
		for _, name := range slices.Sorted(maps.Keys(patch)) {
			if name != "status" {
				return nil, fmt.Errorf("%s has changed, which a patch of the status does not change; patch it without the subresource", name)
			}
		}
	case len(subresources) == 0 && changesStatus && slices.Contains(d.subresources, "status"):
		return nil, errors.New(`the status has changed, which is a subresource: patch it with the subresource "status"`)
	}
	return patch, holdFor(patch, a)
}

// holdFor limits a patch to one object, and to one version of it, as far as these are known.
func holdFor(patch jsonObject, m sentMetadata) error {
	metadata, _ := readObject(patch["metadata"])
	if metadata == nil {
		metadata = jsonObject{}
	}
	for name, value := range map[string]string{"uid": m.UID, "resourceVersion": m.ResourceVersion} {
		if value == "" {
			continue
		}
		if err := metadata.set(name, value); err != nil {
			return err
		}
	}
	if len(metadata) == 0 {
		return nil
	}
	text, err := json.Marshal(metadata)
	patch["metadata"] = text
	return err
}

// isAbsent reports whether a value is as good as none.
func isAbsent(value json.RawMessage) bool {
	return len(value) == 0 || bytes.Equal(value, null) || bytes.Equal(value, []byte("[]"))
}

// result returns what a method of a Writer returns: the answer, or an error that
// names what was to be done.
func (w *Writer[T]) result(answer T, what string, key index.Key, err error) (T, error) {
	if err == nil {
		return answer, nil
	}
	name := w.resource.String()
	if d := w.known.Load(); d != nil {
		name = d.String()
	} else if w.resource.Empty() {
		name = w.resource.kind.Kind
	}
	switch {
	case key.Namespace != "":
		name += " " + key.Namespace + "/" + key.Name
	case key.Name != "":
		name += " " + key.Name
	}
	return *new(T), fmt.Errorf("%s %s: %w", what, name, err)
}

// copyOf returns the object that was encoded.
func (w *Writer[T]) copyOf(doc *document) (T, error) {
	text, err := json.Marshal(doc.fields)
	if err != nil {
		return *new(T), err
	}
	return w.decode(text)
}
