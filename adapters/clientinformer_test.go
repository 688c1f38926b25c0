package adapters_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	typedcorev1 "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/tools/cache"

	"github.com/kubetyped/informer/adapters"
)

// TestNewClientInformerWithoutClient: Run reports the mistake and returns, and reads find nothing.
func TestNewClientInformerWithoutClient(t *testing.T) {
	for name, informer := range map[string]cache.SharedIndexInformer{
		"nil":          adapters.NewClientInformer(typedcorev1.PodInterface(nil), cache.SharedIndexInformerOptions{}),
		"deduplicated": adapters.NewClientInformer(adapters.Deduplicate(typedcorev1.PodInterface(nil)), cache.SharedIndexInformerOptions{}),
	} {
		t.Run(name, func(t *testing.T) {
			assert.Empty(t, informer.GetStore().List())
			reports := reported.since()
			informer.RunWithContext(t.Context())
			require.Len(t, reports(), 1)
			assert.ErrorContains(t, reports()[0], "informer *v1.Pod: client is nil")
			assert.True(t, informer.IsStopped())
			assert.False(t, informer.HasSynced())
		})
	}
}
