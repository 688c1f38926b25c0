package kube

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"sync/atomic"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"

	"github.com/kubetyped/informer/index"
	"github.com/kubetyped/informer/internal/decode/wire"
)

// Writer writes objects of type T without a generated client:
//
//	networks, err := kube.NewWriter[*Network](config, kube.WithResource(resource), kube.WithFullUpdates())
//	...
//	updated := kube.Copy(network)
//	updated.Status.Phase = "Ready"
//	updated, err = networks.UpdateStatus(ctx, updated, metav1.UpdateOptions{})
//
// Its methods may be called by several goroutines. They promise:
//
//  1. Arguments are read, and neither modified nor kept. It is sent in JSON, with the kind and
//     apiVersion of the resource, which it need not have itself; if it has others, that is an
//     error.
//  2. The result is the server's answer, and belongs to the caller. With an error it is nil.
//  3. Errors name the resource and the object, and wrap the server's error: use
//     apierrors.IsConflict, IsNotFound and others. An unusable answer to a successful write is
//     an error, too, which says so.
//  4. An invalid argument is an error before the object is sent: an object that is nil or has
//     no name, one without a namespace where there have to be some, or with one where there
//     are none or WithNamespace names another, a subresource that the resource has not, a
//     change that the server would leave out silently.
//  5. Nothing is retried, except requests that the server asks to send later, which
//     client-go's REST client retries.
//
// The first request asks the server for the resources of the group and version, so
// as to know the kind, whether there are namespaces, and the subresources. This is
// asked once, and again when a subresource is not among them.
//
// # Types with fewer fields
//
// An update replaces an object, so it removes what a T cannot hold. Update and
// UpdateStatus are therefore refused unless T is registered in a scheme, is
// *unstructured.Unstructured, or WithFullUpdates says that nothing is missing.
// MergePatch, Patch and Apply send what is to change. A merge patch replaces lists
// as a whole; if elements of one would lose fields that T does not have, MergePatch
// returns an error. A registered type that is older than the server has fewer fields
// as well, as it has with generated clients.
//
// Objects of an informer with WithFields or WithoutFields are not noticed: Update removes
// the omitted fields from the server's object, and MergePatch those of elements of lists
// that change. Change them by Patch, Apply, or a MergePatch of other fields.
type Writer[T index.Object] struct {
	client   *restClient[T]
	config   restConfig
	resource resource // what is known without a server
	full     bool     // no field is missing in T
	known    atomic.Pointer[description]
}

// NewWriter returns a Writer for the objects of type T, which can be all that
// [FromREST] reads. The resource is found in the same way.
//
// The configuration's transport, authentication, rate limit and warning handler are
// used, as by generated clients; it is copied. The content types that it names are
// not: JSON is what all T have.
//
// NewWriter returns an error if the configuration, T or an option cannot be used. It
// makes no request.
func NewWriter[T index.Object](config *rest.Config, opts ...WriterOption) (*Writer[T], error) {
	w, err := newWriter[T](config, opts)
	if err != nil {
		return nil, fmt.Errorf("writer of %v: %w", reflect.TypeFor[T](), err)
	}
	return w, nil
}

func newWriter[T index.Object](config *rest.Config, opts []WriterOption) (*Writer[T], error) {
	w := &Writer[T]{}
	var err error
	if w.config, w.full, err = newWriterOptions(opts); err != nil {
		return nil, err
	}
	if w.resource, err = knownResource(reflect.TypeFor[T](), config, &w.config); err != nil {
		return nil, err
	}
	if err := wire.CheckEncoding(reflect.TypeFor[T]()); err != nil {
		return nil, err
	}
	if w.full && isPartial[T]() {
		return nil, errors.New("WithFullUpdates: metadata is not all that objects have")
	}
	w.full = w.full || isUnstructured(reflect.TypeFor[T]()) || !w.resource.kind.Empty()
	inJSON := rest.CopyConfig(config)
	inJSON.ContentType, inJSON.AcceptContentTypes = runtime.ContentTypeJSON, runtime.ContentTypeJSON
	w.client, err = newRESTClient[T](inJSON, nil)
	return w, err
}

// Get reads an object from the server. With an informer of the same objects, its Get
// is cheaper; this one is as new as the server.
func (w *Writer[T]) Get(ctx context.Context, key index.Key, opts metav1.GetOptions) (T, error) {
	answer, err := w.exchange(ctx, w.client.requests.Get(), key, message{options: &opts})
	return w.result(answer, "get", key, err)
}

// Create creates an object. It has a name, or with generateName a part of one. It has
// no resource version: what was read is there already. Where the status is a
// subresource, the server leaves it out.
func (w *Writer[T]) Create(ctx context.Context, obj T, opts metav1.CreateOptions) (T, error) {
	key, doc, err := w.document(ctx, obj)
	if err == nil {
		switch m := doc.metadata; {
		case m.ResourceVersion != "":
			err = fmt.Errorf("resource version is %q, want none: clear it to create a copy, or use Update", m.ResourceVersion)
		case m.Name == "" && m.GenerateName == "":
			err = errors.New("object has no name and no generateName")
		}
	}
	var answer T
	if err == nil {
		answer, err = w.exchange(ctx, w.client.requests.Post(), key, message{fields: doc.fields, options: &opts, collection: true})
	}
	return w.result(answer, "create", key, err)
}

// Update replaces an object by obj, which is of the version that obj says; otherwise
// the error is one of apierrors.IsConflict. Without a version, custom resources
// cannot be updated, and others are replaced whatever they are. Where the status is a
// subresource, the server leaves it as it is. See Writer for types with fewer fields.
func (w *Writer[T]) Update(ctx context.Context, obj T, opts metav1.UpdateOptions) (T, error) {
	return w.replace(ctx, "update", obj, &opts)
}

// UpdateStatus replaces the status of an object by that of obj; see Update. The
// server leaves all else as it is.
func (w *Writer[T]) UpdateStatus(ctx context.Context, obj T, opts metav1.UpdateOptions) (T, error) {
	return w.replace(ctx, "update the status of", obj, &opts, "status")
}

func (w *Writer[T]) replace(ctx context.Context, what string, obj T, opts *metav1.UpdateOptions, subresources ...string) (answer T, err error) {
	key, doc, err := w.document(ctx, obj)
	switch {
	case err != nil:
	case !w.full:
		err = fmt.Errorf("a %v may have fewer fields than the object, which would lose the others: use MergePatch or Apply, or say WithFullUpdates if it has them all", reflect.TypeFor[T]())
	default:
		answer, err = w.exchange(ctx, w.client.requests.Put(), key, message{fields: doc.fields, options: opts, subresources: subresources})
	}
	return w.result(answer, what, key, err)
}

// Patch changes an object by a patch of the given type, or a subresource of it such
// as "status". Custom resources have no strategic merge patches. A subresource whose
// objects are of another kind than T, such as "scale", cannot be decoded into T: Patch
// returns an error although the server has done it.
func (w *Writer[T]) Patch(ctx context.Context, key index.Key, kind types.PatchType, patch []byte, opts metav1.PatchOptions, subresources ...string) (answer T, err error) {
	switch {
	case !slices.Contains([]types.PatchType{types.JSONPatchType, types.MergePatchType, types.StrategicMergePatchType, types.ApplyYAMLPatchType}, kind):
		err = fmt.Errorf("unknown patch type %q: use a constant of k8s.io/apimachinery/pkg/types", kind)
	case len(patch) == 0:
		err = errors.New("the patch is empty")
	case kind != types.ApplyYAMLPatchType && !json.Valid(patch):
		err = fmt.Errorf("the patch, of the type %s, is not JSON", kind)
	default:
		answer, err = w.exchange(ctx, w.client.requests.Patch(kind), key, message{contentType: string(kind), body: patch, options: &opts, subresources: subresources})
	}
	return w.result(answer, "patch", key, err)
}

// MergePatch changes an object by what differs between two states of it: old, as it
// was read, and updated, a copy that was changed, see [Copy]. Whatever T does not have, and
// whatever is the same in both, stays as it is. Lists are replaced as a whole. If a list of
// structs that are not Kubernetes' own changes, and T may have fewer fields than the object,
// MergePatch reads the object again, and returns an error if elements would lose fields.
//
// MergePatch sends the difference to the received object. If updated and old have memory in
// common, as maps, slices and targets of pointers have after updated := *old, a change of one
// is a change of both; so MergePatch reads the object again, and returns an error if old was
// modified there. A Copy spares that request.
//
// The patch holds for the version and UID of old: if the object has changed, or is
// another one by now, the error is one of apierrors.IsConflict. Clear the resource
// version of both to patch whatever version is there; if it is another object by now, the
// error is then one of apierrors.IsInvalid.
//
// If nothing differs, no object is sent, and MergePatch returns a copy of updated.
//
// Where the status is a subresource, changes of it need "status", and changes of all
// else must not have it. Both would be left out by the server, so they are errors
// here. null in JSON is absence in a merge patch.
func (w *Writer[T]) MergePatch(ctx context.Context, old, updated T, opts metav1.PatchOptions, subresources ...string) (answer T, err error) {
	key, before, err := w.document(ctx, old)
	if err != nil {
		return w.result(answer, "patch", key, fmt.Errorf("the old state: %w", err))
	}
	_, after, err := w.document(ctx, updated)
	if err != nil {
		return w.result(answer, "patch", key, fmt.Errorf("the updated state: %w", err))
	}
	patch, err := w.difference(ctx, before, after, subresources)
	if err == nil {
		err = w.checkReceived(ctx, old, updated, before, subresources)
	}
	if err == nil {
		err = w.checkLists(ctx, old, before, patch)
	}
	switch {
	case err != nil:
	case len(patch) == 0:
		answer, err = w.copyOf(after)
	default:
		answer, err = w.exchange(ctx, w.client.requests.Patch(types.MergePatchType), key, message{
			contentType: string(types.MergePatchType), fields: patch, options: &opts, subresources: subresources,
		})
	}
	return w.result(answer, "patch", key, err)
}

// Apply applies an object by server-side apply: the field manager of opts, which is
// needed, has the fields that obj has, no others, and those that it had before and
// obj lacks are removed. The object is created if it does not exist. A field that
// another manager has is a conflict, by apierrors.IsConflict, unless opts.Force takes
// it.
//
// All that the JSON of obj has counts, zero values too: give fields the tag omitempty, or use
// a type with just the fields that are to be applied. An object that was read from a server,
// which its managedFields show, is an error: applying it would take ownership of all its
// fields.
func (w *Writer[T]) Apply(ctx context.Context, obj T, opts metav1.ApplyOptions, subresources ...string) (answer T, err error) {
	key, doc, err := w.document(ctx, obj)
	switch {
	case err != nil:
	case opts.FieldManager == "":
		err = errors.New("ApplyOptions.FieldManager is empty; it is the name of what applies, the same each time")
	case !isAbsent(doc.metadata.ManagedFields):
		err = errors.New("object has managedFields, so it was read from a server: apply an object with only the fields that you own")
	default:
		patchOptions := opts.ToPatchOptions()
		answer, err = w.exchange(ctx, w.client.requests.Patch(types.ApplyYAMLPatchType), key, message{
			contentType: string(types.ApplyYAMLPatchType), fields: doc.fields, options: &patchOptions, subresources: subresources,
		})
	}
	return w.result(answer, "apply", key, err)
}

// Delete deletes an object, or has it deleted: one with finalizers is marked, and
// goes when they are gone. Preconditions of opts that do not hold are a conflict, by
// apierrors.IsConflict.
func (w *Writer[T]) Delete(ctx context.Context, key index.Key, opts metav1.DeleteOptions) error {
	opts.TypeMeta = metav1.TypeMeta{Kind: "DeleteOptions", APIVersion: "v1"}
	body, err := json.Marshal(opts)
	if err == nil {
		_, err = w.send(ctx, w.client.requests.Delete(), key, message{body: body})
	}
	_, err = w.result(*new(T), "delete", key, err)
	return err
}
