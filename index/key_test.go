package index_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"

	"github.com/kubetyped/informer/index"
)

// TestKey compares keys with those of client-go and apimachinery, into which they
// convert.
func TestKey(t *testing.T) {
	for _, key := range []index.Key{{Namespace: "ns", Name: "a"}, {Name: "a"}, {Namespace: "ns"}, {}} {
		theirs := cache.ObjectName(key)
		assert.Equal(t, theirs.String(), key.String())
		assert.Equal(t, key, index.Key(theirs))
		assert.Equal(t, theirs.AsNamespacedName(), types.NamespacedName(key))
	}
}
