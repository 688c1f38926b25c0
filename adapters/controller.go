package adapters

import (
	"context"

	clientfeatures "k8s.io/client-go/features"
	"k8s.io/client-go/tools/cache"
)

// controller is what GetController returns. As in client-go, it shows the informer's state, and
// does not run the informer.
type controller[T cache.Object] struct{ informer *informer[T] }

func _[T cache.Object]() { var _ cache.Controller = controller[T]{} }

// RunWithContext does nothing.
func (controller[T]) RunWithContext(context.Context) {}

// Run does nothing.
func (controller[T]) Run(<-chan struct{}) {}

// HasSynced implements cache.Controller.
func (c controller[T]) HasSynced() bool { return c.informer.HasSynced() }

// HasSyncedChecker implements cache.Controller.
func (c controller[T]) HasSyncedChecker() cache.DoneChecker { return c.informer.HasSyncedChecker() }

// LastSyncResourceVersion implements cache.Controller. It is empty if client-go's
// feature gate InformerResourceVersion is off, as there.
func (c controller[T]) LastSyncResourceVersion() string {
	if !clientfeatures.FeatureGates().Enabled(clientfeatures.InformerResourceVersion) {
		return ""
	}
	return c.informer.LastSyncResourceVersion()
}
