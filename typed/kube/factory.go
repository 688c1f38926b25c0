package kube

import (
	"k8s.io/client-go/rest"

	"github.com/kubetyped/informer/typed"
)

// Factory shares the informers of one cluster among all who ask for the same. See
// [For] for how to ask, and [typed.Factory] for what is promised. [typed.Share] is for
// sources of one's own.
type Factory struct {
	*typed.Factory

	config *rest.Config
}

// NewFactory returns a factory for the cluster of a configuration, which must not be
// modified any more. Its informers have the given options, see [typed.NewFactory].
func NewFactory(config *rest.Config, opts ...typed.Option) *Factory {
	return &Factory{Factory: typed.NewFactory(opts...), config: config}
}
