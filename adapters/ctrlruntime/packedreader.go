package ctrlruntime

import (
	"fmt"
	"reflect"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/selection"
	toolscache "k8s.io/client-go/tools/cache"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// freshReader is an indexer that decodes what it returns for the caller alone.
type freshReader interface {
	FreshByKey(key string) (obj runtime.Object, exists bool, err error)
	EachFresh(index, value string, each func(of labels.Labels, fresh func() (runtime.Object, error)) bool) error
}

// packedReader reads objects that are kept as bytes, as controller-runtime's cache reads others,
// but without a copy.
type packedReader struct {
	freshReader
	synced     func() bool
	kind       schema.GroupVersionKind
	namespaced bool
	uncopied   bool // objects keep the kind that they have in the cache
}

// get decodes an object into another one.
func (r *packedReader) get(key client.ObjectKey, into client.Object, opts []client.GetOption) error {
	var o client.GetOptions
	o.ApplyOptions(opts)
	name := key.Name
	if r.namespaced && key.Namespace != "" {
		name = key.Namespace + "/" + key.Name
	}
	obj, exists, err := r.FreshByKey(name)
	switch {
	case err != nil:
		return err
	case !exists:
		return apierrors.NewNotFound(schema.GroupResource{Group: r.kind.Group, Resource: r.kind.Kind}, key.Name)
	}
	from, to := reflect.ValueOf(obj), reflect.ValueOf(into)
	if !from.Type().AssignableTo(to.Type()) {
		return fmt.Errorf("cache had type %s, but %s was asked for", from.Type(), to.Type())
	}
	to.Elem().Set(from.Elem())
	if !r.uncopied && !ptr.Deref(o.UnsafeDisableDeepCopy, false) {
		into.GetObjectKind().SetGroupVersionKind(r.kind)
	}
	return nil
}

// selected returns the value of an index that has the objects of a list, "" without an index. It returns
// false for options that controller-runtime has to handle.
func selected(o *client.ListOptions) (index, value string, ok bool) {
	switch {
	case o.Continue != "":
		return "", "", false
	case o.FieldSelector != nil:
		fields := o.FieldSelector.Requirements()
		if len(fields) != 1 || fields[0].Operator != selection.Equals && fields[0].Operator != selection.DoubleEquals {
			return "", "", false
		}
		namespace := o.Namespace
		if namespace == "" {
			namespace = "__all_namespaces"
		}
		return "field:" + fields[0].Field, namespace + "/" + fields[0].Value, true
	case o.Namespace != "":
		return toolscache.NamespaceIndex, o.Namespace, true
	}
	return "", "", true
}

// list decodes objects into a list. It returns false if controller-runtime is to do so.
func (r *packedReader) list(into client.ObjectList, opts []client.ListOption) (bool, error) {
	var o client.ListOptions
	o.ApplyOptions(opts)
	index, value, ok := selected(&o)
	if !ok {
		return false, nil
	}
	uncopied := r.uncopied || ptr.Deref(o.UnsafeDisableDeepCopy, false)
	found := []runtime.Object{}
	var failed error
	err := r.EachFresh(index, value, func(of labels.Labels, fresh func() (runtime.Object, error)) bool {
		if o.Limit > 0 && int64(len(found)) >= o.Limit {
			return false
		}
		if o.LabelSelector != nil && !o.LabelSelector.Matches(of) {
			return true
		}
		var obj runtime.Object
		if obj, failed = fresh(); failed != nil {
			return false
		}
		if !uncopied {
			obj.GetObjectKind().SetGroupVersionKind(r.kind)
		}
		found = append(found, obj)
		return true
	})
	if err == nil {
		err = failed
	}
	if err == nil {
		err = meta.SetList(into, found)
	}
	if err != nil {
		return true, err
	}
	into.SetContinue("continue-not-supported")
	return true, nil
}
