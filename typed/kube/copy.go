package kube

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubetyped/informer/index"
	"github.com/kubetyped/informer/internal/deepcopy"
)

// Copy returns a copy of an object, to be changed and written: what an informer has is shared,
// and an assignment, updated := *obj, copies neither maps nor slices nor what pointers point
// to. It takes any type, such as your own struct without generated code:
//
//	updated := kube.Copy(network)
//	meta.SetStatusCondition(&updated.Status.Conditions, ready)
//	_, err := writer.MergePatch(ctx, network, updated, metav1.PatchOptions{}, "status")
//
// Types that have the method DeepCopy, DeepCopyInto or DeepCopyObject are copied by it, as
// fields too, and all else field by field. nil stays nil, and empty values stay empty.
// Unexported fields, functions, channels and keys of maps are copied as an assignment does.
func Copy[T any](obj T) T { return deepcopy.Copy(obj) }

// checkReceived returns an error if the old state of an object may not be what was received,
// since the updated one is in the same memory, in a part that the patch may change: what was
// changed there was changed in both, and they do not differ. The server has what was received,
// as long as it has the version.
func (w *Writer[T]) checkReceived(ctx context.Context, old, updated T, before *document, subresources []string) error {
	wanted := w.known.Load().patchedBy(subresources)
	path, shared := "", false
	if a, ok := any(old).(*unstructured.Unstructured); ok {
		path, shared = deepcopy.Shared(a.Object, any(updated).(*unstructured.Unstructured).Object, wanted)
	} else {
		path, shared = deepcopy.Shared(old, updated, wanted)
	}
	if !shared {
		return nil
	}
	path = cmp.Or(path, "everything")
	received, err := w.exchange(ctx, w.client.requests.Get(), index.KeyOf(old), message{options: &metav1.GetOptions{}})
	if err != nil {
		return fmt.Errorf("the updated state shares %s with the old one, and the object cannot be read again: %w", path, err)
	}
	is, err := newDocument(received, w.known.Load())
	if err != nil {
		return err
	}
	compared := "what was received"
	switch was := before.metadata; {
	case was.UID != "" && was.UID != is.metadata.UID, was.ResourceVersion != "" && was.ResourceVersion != is.metadata.ResourceVersion:
		err = fmt.Errorf("the old state, of version %q, shares %s with the updated one, and is not there any more to be compared with", was.ResourceVersion, path)
		return apierrors.NewConflict(w.known.Load().GroupResource(), old.GetName(), err)
	case was.ResourceVersion == "":
		compared = "what the server has now, and has no version"
	}
	differs, err := before.differsFrom(is, wanted)
	if differs {
		return fmt.Errorf("the old state is not %s, and shares %s with the updated one: what was changed there was changed in both, so it is not known what to send; change a copy, see kube.Copy", compared, path)
	}
	return err
}

// patchedBy returns which fields of the first level a patch may change.
func (d *description) patchedBy(subresources []string) func(name string) bool {
	return func(name string) bool {
		switch {
		case slices.Equal(subresources, []string{"status"}):
			return name == "status"
		case len(subresources) == 0:
			return name != "status" || !slices.Contains(d.subresources, "status")
		}
		return true
	}
}

// differsFrom reports whether two states of an object differ in a field of the first level
// that is wanted. Managed fields, which many leave out, do not count, nor do the UID and the version.
func (d *document) differsFrom(other *document, wanted func(name string) bool) (bool, error) {
	patch, err := mergePatch(other.fields, d.fields)
	for name, value := range patch {
		if within, ok := readObject(value); ok && name == "metadata" {
			for _, field := range []string{"managedFields", "uid", "resourceVersion"} {
				delete(within, field)
			}
			if len(within) == 0 {
				continue
			}
		}
		if wanted(name) {
			return true, err
		}
	}
	return false, err
}
