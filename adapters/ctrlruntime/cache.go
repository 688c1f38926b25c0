package ctrlruntime

import (
	"errors"

	"sigs.k8s.io/controller-runtime/pkg/cache"

	"github.com/kubetyped/informer/adapters"
)

// ConfigureCache makes a cache keep its objects in this project's informers:
// those of the manager's client, of controllers' watches, for each kind and each
// namespace. It sets NewInformer and nothing else, so all other options mean what
// they do otherwise.
//
//	options := ctrl.Options{Cache: cache.Options{DefaultTransform: cache.TransformStripManagedFields()}}
//	err := ctrlruntime.ConfigureCache(&options.Cache)
//
// It returns an error, and changes nothing, if o is nil or NewInformer is set
// already.
func ConfigureCache(o *cache.Options) error {
	switch {
	case o == nil:
		return errors.New("configure cache: the options are nil")
	case o.NewInformer != nil:
		return errors.New("configure cache: NewInformer is set already, and there can be one only: leave it nil, or leave ConfigureCache out")
	}
	o.NewInformer = adapters.NewSharedIndexInformer
	return nil
}
