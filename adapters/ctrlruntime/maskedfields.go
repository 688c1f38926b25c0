package ctrlruntime

import (
	"fmt"
	"reflect"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	toolscache "k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"

	"github.com/kubetyped/informer/typed/kube"
)

// checkSelector returns an error if a list selects objects by labels that are left out of
// them: it would find none.
func (s *settings) checkSelector(list client.ObjectList, opts []client.ListOption) error {
	if !s.isMasked() {
		return nil
	}
	var o client.ListOptions
	o.ApplyOptions(opts)
	selector := o.LabelSelector
	if selector == nil || selector.Empty() {
		return nil
	}
	example, kind, err := s.itemOf(list)
	if err == nil { // or else the cache says why
		err = s.refuse(example, kind, "metadata.labels")
	}
	if err != nil {
		return fmt.Errorf("list %T: selector %q: %w", list, selector, err)
	}
	return nil
}

// checkField returns an error if an index is named after a field that is left out of objects.
func (s *settings) checkField(obj client.Object, field string) error {
	if !s.isMasked() {
		return nil
	}
	if kind, err := apiutil.GVKForObject(obj, s.scheme); err == nil {
		if err := s.refuse(obj, kind, strings.TrimPrefix(field, ".")); err != nil {
			return fmt.Errorf("index %s of %T: %w", field, obj, err)
		}
	}
	return nil
}

// isMasked reports whether fields are left out of any objects.
func (s *settings) isMasked() bool { return len(s.all) > 0 || len(s.kinds) > 0 }

// itemOf returns an example of what a list has, and its kind, as the cache of
// controller-runtime finds them.
func (s *settings) itemOf(list client.ObjectList) (runtime.Object, schema.GroupVersionKind, error) {
	kind, err := apiutil.GVKForObject(list, s.scheme)
	if err != nil {
		return nil, kind, err
	}
	kind.Kind = strings.TrimSuffix(kind.Kind, "List")
	switch list.(type) {
	case runtime.Unstructured:
		return &unstructured.Unstructured{}, kind, nil
	case *metav1.PartialObjectMetadataList:
		return &metav1.PartialObjectMetadata{}, kind, nil
	}
	example, err := s.scheme.New(kind)
	return example, kind, err
}

// refuse returns an error if a field, which objects of a kind have, is left out of them.
func (s *settings) refuse(example runtime.Object, kind schema.GroupVersionKind, field string) error {
	fields := s.fieldsOf(example, kind)
	if len(fields) == 0 || check(example, kind, []kube.SourceOption{kube.WithFields(field)}) != nil {
		return nil // all fields are there, or it is a name of the program's own
	}
	lw, err := kube.NewDecodingListerWatcher(&toolscache.ListWatch{}, example, kind, nil, fields...)
	if err != nil || !lw.Omits(field) {
		return err
	}
	return fmt.Errorf("the cache leaves %s out of %s; name it in ForKind or ForAllKinds", field, kind.Kind)
}

// fieldsOf returns which fields objects of a kind have.
func (s *settings) fieldsOf(example runtime.Object, kind schema.GroupVersionKind) []kube.SourceOption {
	if s.packs(example, kind) {
		return nil
	}
	if fields, ok := s.kinds[kindOf{reflect.TypeOf(example), kind}]; ok {
		return fields
	}
	return s.all
}
