package kube

import (
	"k8s.io/client-go/rest"

	"github.com/kubetyped/informer/typed"
)

// Factory shares the informers of one cluster among their users. See [For] for requests, and
// [typed.Factory] for the guarantees. [typed.Share] is for your own sources.
type Factory struct {
	*typed.Factory

	config  *rest.Config
	sources []SourceOption
	err     error // what was wrong with the options
}

// NewFactory returns a factory for the cluster of a configuration, which must not be
// modified any more. All of its informers have the given options: a SourceOption, or
// what WithInformerOptions returns, see [typed.NewFactory]:
//
//	kube.NewFactory(config, kube.WithNamespace("shop"), kube.WithoutFields("metadata.managedFields"))
//
// For says what cannot be used of them.
func NewFactory(config *rest.Config, opts ...ForOption) *Factory {
	all, err := collect(opts)
	return &Factory{Factory: typed.NewFactory(all.informer...), config: config, sources: all.source, err: err}
}
