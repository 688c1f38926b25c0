// Package adapters is a stub.
package adapters

import (
	"github.com/kubetyped/informer/typed"
	"k8s.io/client-go/tools/cache"
)

func ResourceEventHandler[T any](handler typed.Handler[T]) cache.ResourceEventHandler { return nil }
