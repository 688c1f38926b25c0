package adapters_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/cache"

	"github.com/kubetyped/informer/adapters"
)

// TestNegativeResyncPeriod is that of no resyncs: with client-go, they would follow each other at once.
func TestNegativeResyncPeriod(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &script{}
		s.lists("10", pod("a", "1"))
		pods := adapters.NewSharedIndexInformer(s, &corev1.Pod{}, -time.Minute, cache.Indexers{})
		stop, ended := start(t, pods)
		updates := 0
		_, err := pods.AddEventHandler(cache.ResourceEventHandlerFuncs{UpdateFunc: func(_, _ any) { updates++ }})
		require.NoError(t, err)
		time.Sleep(time.Hour)
		stop()
		<-ended
		assert.Zero(t, updates)
	})
}
