package adapters_test

import (
	"context"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/cache"

	"github.com/kubetyped/informer/adapters"
)

// TestNoVersionIsNone: after an event without a version, as those of fake clients, reports of the
// informer have none.
func TestNoVersionIsNone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, func(lw cache.ListerWatcher, options cache.SharedIndexInformerOptions) cache.SharedIndexInformer {
			return adapters.NewTypedSharedIndexInformer[*corev1.Pod](lw, options)
		})
		informer, ok := adapters.AnyInformer(r)
		require.True(t, ok)
		r.run()
		assert.Equal(t, "10", informer.Status().ResourceVersion)
		for _, e := range []event{added(pod("a", "")), bookmark(""), deleted(pod("a", ""))} {
			r.send(modified(pod("b", "11")))
			assert.Equal(t, "11", informer.Status().ResourceVersion)
			r.send(e)
			assert.Empty(t, informer.Status().ResourceVersion)
		}
		waiting, cancel := context.WithCancel(t.Context())
		cancel()
		waits := informer.(interface {
			WaitForResourceVersion(context.Context, string) error
		})
		assert.ErrorContains(t, waits.WaitForResourceVersion(waiting, "12"), `waited for resource version 12, is at ""`)
	})
}
