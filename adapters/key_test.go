package adapters

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"k8s.io/client-go/tools/cache"
)

// FuzzKey makes keys of strings and strings of keys: none is lost, and proper
// ones are client-go's.
func FuzzKey(f *testing.F) {
	for _, s := range []string{"", "a", "a/b", "/", "/a", "a/", "a/b/c", "//"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		key := keyOf(s)
		assert.Equal(t, s, key.String())
		if theirs, err := cache.ParseObjectName(s); err == nil && theirs.String() == s {
			assert.Equal(t, theirs, cache.ObjectName(key))
		}
	})
}
