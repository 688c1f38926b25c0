package source

import "github.com/kubetyped/informer/index"

// Named is a Source that may follow one object alone, by its name, as those of package kube
// with kube.WithName. Package reference asks it, so as not to follow more than one.
type Named interface {
	// Named returns the key of the object. The error says why the source cannot be used, as
	// far as that is known without a server, or that it is one of other objects as well.
	Named() (index.Key, error)
}
