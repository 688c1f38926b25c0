package tracing

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubetyped/informer/index"
)

// TestTwoDeletionsByKey: a call for a deletion takes the next one that is known by its key alone,
// and none after that.
func TestTwoDeletionsByKey(t *testing.T) {
	tracer, err := New()
	require.NoError(t, err)
	key, by := index.Key{Name: "a"}, &listener{}
	events := &Events{tracer: tracer, underway: newBounded[index.Key, []event](tracer)}
	events.handlers.Store(1)
	for _, received := range []event{{version: "3", deleted: true, byKey: true}, {version: "5"}, {version: "7", deleted: true, byKey: true}} {
		received.received = time.Now()
		events.add(key, received)
	}
	for _, call := range []struct {
		version string
		deleted bool
		takes   string
	}{{"2", true, "3"}, {"5", false, "5"}, {"5", true, "7"}} {
		var versions []string
		for _, taken := range events.take(by, key, call.version, call.deleted) {
			versions = append(versions, taken.version)
		}
		assert.Equal(t, []string{call.takes}, versions)
	}
}
