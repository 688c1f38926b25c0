package adapters_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"

	"github.com/kubetyped/informer/adapters"
	"github.com/kubetyped/informer/typed"
)

func TestHandlersAfterStopReturnErrStopped(t *testing.T) {
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	inf := adapters.NewSharedIndexInformer(&script{}, &corev1.Pod{}, 0, cache.Indexers{})
	inf.RunWithContext(ended)
	_, err := inf.AddEventHandler(cache.ResourceEventHandlerFuncs{})
	assert.ErrorIs(t, err, typed.ErrStopped)
	assert.EqualError(t, err, "handler cache.ResourceEventHandlerFuncs was not added to shared informer because it has stopped already")
}

// No lock is held while lines about a new handler are logged.
func TestHandlerOptionsLoggerMayCallInformer(t *testing.T) {
	inf := adapters.NewSharedIndexInformer(&script{}, &corev1.Pod{}, 0, cache.Indexers{})
	lines := 0
	logger := klog.New(logSink{func() {
		lines++
		_, err := inf.AddEventHandler(&recorder{})
		assert.NoError(t, err)
		assert.NoError(t, inf.SetTransform(nil))
	}})
	period := time.Millisecond
	_, err := inf.AddEventHandlerWithOptions(&recorder{}, cache.HandlerOptions{Logger: &logger, ResyncPeriod: &period})
	require.NoError(t, err)
	assert.Equal(t, 2, lines, "the period is too short, and there are no resyncs")
}
