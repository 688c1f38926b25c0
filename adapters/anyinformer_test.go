package adapters_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/client-go/tools/cache"

	"github.com/kubetyped/informer/adapters"
	"github.com/kubetyped/informer/adapters/informers"
)

func TestAnyInformer(t *testing.T) {
	client := fake.NewClientset()
	pods := informers.NewSharedInformerFactory(client, time.Hour).Core().V1().Pods().Informer()
	on, ok := adapters.AnyInformer(pods)
	require.True(t, ok, "%T", pods)
	_, err := pods.AddEventHandler(cache.ResourceEventHandlerFuncs{})
	require.NoError(t, err)
	assert.Contains(t, on.Name(), "v1.Pod")
	assert.Len(t, on.Status().Handlers, 1)
	assert.NotContains(t, on.Status().Created.Function, "github.com/kubetyped/informer/adapters.", "who has asked for it")

	_, ok = adapters.AnyInformer(cache.NewSharedIndexInformer(&cache.ListWatch{}, &corev1.Pod{}, 0, nil))
	assert.False(t, ok, "it is client-go's own")
	_, ok = adapters.AnyInformer(nil)
	assert.False(t, ok)
	_, ok = adapters.AnyInformer(struct{ cache.SharedIndexInformer }{})
	assert.False(t, ok)
}
