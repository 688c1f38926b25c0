package faults

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubetyped/informer/e2e/crd"
)

// TestCustomResourceDeleted deletes a custom resource definition with all its objects, and
// creates it again with another version next to the watched one. The server now stores objects
// in the new version.
func TestCustomResourceDeleted(t *testing.T) {
	resource := crd.Resource{Group: "faults.e2e.kubetyped.io", Version: "v1", Kind: "Gadget"}
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	config := server.Config()
	require.NoError(t, resource.Delete(ctx, config), "left by an earlier run")
	require.NoError(t, resource.Create(ctx, config))
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		assert.NoError(t, resource.Delete(ctx, config))
	})
	s := newScene[*unstructured.Unstructured](t, newCustoms(resource, server.Namespace(t)))
	s.watch(config)
	s.writes(writeRate)

	require.NoError(t, resource.Delete(ctx, config))
	s.until("both have seen the deletions and miss the resource", func() bool {
		for _, o := range s.observers {
			if o.informer.Len() > 0 || !apierrors.IsNotFound(o.informer.Status().Err) {
				return false
			}
		}
		return true
	})
	resource.Stored = "v2"
	require.NoError(t, resource.Create(ctx, config))
	s.writes(writeRate)
	s.finish("custom resource deleted and created again with another version", 1)
}
