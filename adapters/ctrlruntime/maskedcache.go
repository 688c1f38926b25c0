package ctrlruntime

import (
	"context"
	"fmt"
	"reflect"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	toolscache "k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"

	"github.com/kubetyped/informer/typed/kube"
)

// maskedCache is a cache whose objects have some of their fields alone. What would find
// nothing, since a field is left out, is an error.
type maskedCache struct {
	cache.Cache
	of *sharingCache
}

// NeedLeaderElection is that of the caches of controller-runtime.
func (*maskedCache) NeedLeaderElection() bool { return false }

// List implements client.Reader.
func (c *maskedCache) List(ctx context.Context, list client.ObjectList, opts ...client.ListOption) error {
	var o client.ListOptions
	o.ApplyOptions(opts)
	if selector := o.LabelSelector; selector != nil && !selector.Empty() {
		example, kind, err := c.of.itemOf(list)
		if err == nil { // or else the cache says what is wrong
			err = c.of.refuse(example, kind, "metadata.labels")
		}
		if err != nil {
			return fmt.Errorf("list %T: selector %q: %w", list, selector, err)
		}
	}
	return c.Cache.List(ctx, list, opts...)
}

// IndexField implements client.FieldIndexer.
func (c *maskedCache) IndexField(ctx context.Context, obj client.Object, field string, extract client.IndexerFunc) error {
	if kind, err := apiutil.GVKForObject(obj, c.of.scheme); err == nil {
		if err := c.of.refuse(obj, kind, strings.TrimPrefix(field, ".")); err != nil {
			return fmt.Errorf("index %s of %T: %w", field, obj, err)
		}
	}
	return c.Cache.IndexField(ctx, obj, field, extract)
}

// itemOf returns an example of what a list has, and its kind, as the cache of
// controller-runtime finds them.
func (s *sharingCache) itemOf(list client.ObjectList) (runtime.Object, schema.GroupVersionKind, error) {
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
func (s *sharingCache) refuse(example runtime.Object, kind schema.GroupVersionKind, field string) error {
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
func (s *sharingCache) fieldsOf(example runtime.Object, kind schema.GroupVersionKind) []kube.SourceOption {
	if fields, ok := s.kinds[kindOf{reflect.TypeOf(example), kind}]; ok {
		return fields
	}
	return s.all
}
