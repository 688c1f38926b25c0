package conformance

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubetyped/informer/e2e/crd"
	"github.com/kubetyped/informer/internal/test/conformance"
)

// widgets is the custom resource of the suites.
var widgets = crd.Resource{Group: "conformance.e2e.kubetyped.io", Version: "v1", Kind: "Widget"}

// TestServer runs on the real server what the in-memory server promises.
func TestServer(t *testing.T) {
	newRig := installWidgets(t)
	conformance.TestServer(t, newRig)
}

// TestInformer runs informers on the real server.
func TestInformer(t *testing.T) {
	newRig := installWidgets(t)
	conformance.TestInformer(t, newRig, conformance.RealTime)
}

// installWidgets makes the custom resource, until the test ends, and returns what
// makes rigs of the server.
func installWidgets(t *testing.T) func(*testing.T) conformance.Rig {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	require.NoError(t, widgets.Delete(ctx, server.Config()), "left by an earlier run")
	require.NoError(t, widgets.Create(ctx, server.Config()))
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		assert.NoError(t, widgets.Delete(ctx, server.Config()))
	})
	return func(t *testing.T) conformance.Rig {
		rig := conformance.Rig{
			Config:             server.Config(),
			Namespace:          server.Namespace(t),
			CustomResource:     widgets.GVR(),
			CustomKind:         widgets.Kind,
			NamespaceLifecycle: true,
		}
		if own := server.Own(); own != nil {
			rig.Compact = func(ctx context.Context) error {
				if _, err := own.Compact(ctx); err != nil {
					return err
				}
				return own.Restart(ctx) // its caches still had the history
			}
		}
		return rig
	}
}
