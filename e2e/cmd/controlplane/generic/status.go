//go:build !race

package generic

import (
	"context"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apiserver/pkg/registry/generic/registry"
	"k8s.io/apiserver/pkg/registry/rest"
)

// statusStorage serves the subresource "status": get, update and patch.
type statusStorage struct {
	store *registry.Store
}

var _ rest.Patcher = statusStorage{}

// newStatusStorage returns the subresource of what store serves by these rules.
func newStatusStorage(store *registry.Store, rules strategy) statusStorage {
	own := *store
	own.UpdateStrategy = statusStrategy{rules}
	return statusStorage{&own}
}

func (s statusStorage) New() runtime.Object { return s.store.New() }

// Destroy does nothing: the store belongs to the resource.
func (statusStorage) Destroy() {}

func (s statusStorage) Get(ctx context.Context, name string, options *metav1.GetOptions) (runtime.Object, error) {
	return s.store.Get(ctx, name, options)
}

// Update never creates an object, whatever forceAllowCreate says.
func (s statusStorage) Update(ctx context.Context, name string, info rest.UpdatedObjectInfo,
	validateCreate rest.ValidateObjectFunc, validateUpdate rest.ValidateObjectUpdateFunc,
	_ bool, options *metav1.UpdateOptions,
) (runtime.Object, bool, error) {
	return s.store.Update(ctx, name, info, validateCreate, validateUpdate, false, options)
}

// statusStrategy changes everything but the spec.
type statusStrategy struct {
	strategy
}

func (statusStrategy) PrepareForUpdate(_ context.Context, obj, old runtime.Object) {
	part(obj, "Spec").Set(part(old, "Spec"))
}
