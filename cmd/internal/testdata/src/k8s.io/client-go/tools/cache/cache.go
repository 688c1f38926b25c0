// Package cache is a stub.
package cache

import (
	"time"

	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
)

type KeyFunc func(obj any) (string, error)

type Store interface {
	Add(obj any) error
	Get(obj any) (item any, exists bool, err error)
	GetByKey(key string) (item any, exists bool, err error)
	List() []any
}

type IndexFunc func(obj any) ([]string, error)

type Indexers map[string]IndexFunc

type Indexer interface {
	Store
	ByIndex(name, value string) ([]any, error)
}

func NewStore(f KeyFunc) Store                   { return nil }
func NewIndexer(f KeyFunc, ixs Indexers) Indexer { return nil }

type GenericLister interface {
	List(selector labels.Selector) ([]runtime.Object, error)
	Get(name string) (runtime.Object, error)
}

type DeletedFinalStateUnknown struct {
	Key string
	Obj any
}

type ResourceEventHandler interface {
	OnAdd(obj any, isInInitialList bool)
	OnUpdate(oldObj, newObj any)
	OnDelete(obj any)
}

type ResourceEventHandlerFuncs struct {
	AddFunc    func(obj any)
	UpdateFunc func(oldObj, newObj any)
	DeleteFunc func(obj any)
}

func (r ResourceEventHandlerFuncs) OnAdd(obj any, isInInitialList bool) {}
func (r ResourceEventHandlerFuncs) OnUpdate(oldObj, newObj any)         {}
func (r ResourceEventHandlerFuncs) OnDelete(obj any)                    {}

type ResourceEventHandlerDetailedFuncs struct {
	AddFunc    func(obj any, isInInitialList bool)
	UpdateFunc func(oldObj, newObj any)
	DeleteFunc func(obj any)
}

func (r ResourceEventHandlerDetailedFuncs) OnAdd(obj any, isInInitialList bool) {}
func (r ResourceEventHandlerDetailedFuncs) OnUpdate(oldObj, newObj any)         {}
func (r ResourceEventHandlerDetailedFuncs) OnDelete(obj any)                    {}

type FilteringResourceEventHandler struct {
	FilterFunc func(obj any) bool
	Handler    ResourceEventHandler
}

func (r FilteringResourceEventHandler) OnAdd(obj any, isInInitialList bool) {}
func (r FilteringResourceEventHandler) OnUpdate(oldObj, newObj any)         {}
func (r FilteringResourceEventHandler) OnDelete(obj any)                    {}

type DeletedObject[T any] struct{ OptionalObj T }

type TypedResourceEventHandlerFuncs[T any] struct {
	AddFunc    func(obj T)
	UpdateFunc func(oldObj, newObj T)
	DeleteFunc func(obj DeletedObject[T])
}

type TypedIndexFunc[T any] func(obj T) ([]string, error)

type TypedIndexers[T any] map[string]TypedIndexFunc[T]

type TypedIndexer[T any] interface {
	Indexer
	ByTypedIndex(indexName, indexedValue string) ([]T, error)
}

type InformerSynced func() bool

type SharedIndexInformer interface {
	AddEventHandler(handler ResourceEventHandler) error
	GetIndexer() Indexer
	GetStore() Store
	HasSynced() bool
	Run(stop <-chan struct{})
}

func NewSharedIndexInformer(lw any, example runtime.Object, resync time.Duration, ixs Indexers) SharedIndexInformer {
	return nil
}

func WaitForCacheSync(stop <-chan struct{}, synced ...InformerSynced) bool { return true }

func WaitForNamedCacheSync(name string, stop <-chan struct{}, synced ...InformerSynced) bool {
	return true
}

func ListAll(store Store, selector labels.Selector, appendFn func(any)) error { return nil }

func DeletionHandlingMetaNamespaceKeyFunc(obj any) (string, error) { return "", nil }

func MetaNamespaceKeyFunc(obj any) (string, error) { return "", nil }

type ObjectName struct{ Namespace, Name string }

func ObjectToName(obj any) (ObjectName, error) { return ObjectName{}, nil }

func DeletionHandlingObjectToName(obj any) (ObjectName, error) { return ObjectName{}, nil }

func SplitMetaNamespaceKey(key string) (namespace, name string, err error) { return "", key, nil }
