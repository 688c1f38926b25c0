package traffic_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/kubetyped/informer/apitest"
	"github.com/kubetyped/informer/internal/test/traffic"
)

func TestCounts(t *testing.T) {
	server := apitest.Start(t, apitest.WithObjects(&corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "a"}}))
	config := server.Config()
	var counter traffic.Counter
	counter.Count(config)
	client, err := kubernetes.NewForConfig(config)
	require.NoError(t, err)
	secrets := client.CoreV1().Secrets("shop")

	named := metav1.ListOptions{FieldSelector: "metadata.name=a"}
	list, err := secrets.List(t.Context(), named)
	require.NoError(t, err)
	require.Len(t, list.Items, 1)
	counts := counter.Counts()
	assert.NotZero(t, counts.Bytes)
	counts.Bytes = 0
	assert.Equal(t, traffic.Counts{Requests: 1, Connections: 1}, counts)

	watch, err := secrets.Watch(t.Context(), named)
	require.NoError(t, err)
	assert.EqualValues(t, 1, counter.Counts().Watches)
	watch.Stop()
	for range watch.ResultChan() { // until it is over
	}
	assert.Zero(t, counter.Counts().Watches)

	_, err = secrets.List(t.Context(), metav1.ListOptions{})
	require.NoError(t, err)
	counts = counter.Counts()
	assert.EqualValues(t, 1, counts.Wide)
	assert.EqualValues(t, 3, counts.Requests)
}
