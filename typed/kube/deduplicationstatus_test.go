package kube_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"

	"github.com/kubetyped/informer/apitest"
	"github.com/kubetyped/informer/internal/test/rig"
	"github.com/kubetyped/informer/typed"
	"github.com/kubetyped/informer/typed/kube"
)

// TestSharedParts: the deduplication table reports its size and its hits. Other informers of the
// program use the same one, so the numbers only grow here.
func TestSharedParts(t *testing.T) {
	srv := apitest.Start(t)
	for i := range 50 { // names that begin differently: none is compared with another one
		pod := tolerant(fmt.Sprintf("app%d-0", i))
		pod.Spec.Tolerations[0].Value = fmt.Sprint("shared-parts-", i%5)
		require.NoError(t, srv.Create(t.Context(), pod))
	}
	before := kube.Deduplication()
	pods := typed.NewInformer(kube.FromREST[*corev1.Pod](srv.Config()))
	require.NoError(t, pods.WaitForSync(rig.Start(t, pods)))
	after := kube.Deduplication()
	assert.Greater(t, after.Looked, before.Looked)
	assert.Greater(t, after.Found, before.Found)
	assert.LessOrEqual(t, after.Found, after.Looked)
	assert.Greater(t, after.Parts, 0)
	assert.Greater(t, after.Bytes, after.Parts*24)
}
