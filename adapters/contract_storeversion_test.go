package adapters_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/client-go/tools/cache"
)

// The store's version is that of the last write, whatever that was.
func TestContractStoreVersion(t *testing.T) {
	eachStore(t, nil, func(t *testing.T, store cache.Indexer) {
		steps := []struct {
			name string
			do   func() error
			want string
		}{
			{"nothing written", func() error { return nil }, ""},
			{"add", func() error { return store.Add(pod("a", "5")) }, "5"},
			{"update", func() error { return store.Update(pod("a", "6")) }, "6"},
			{"older update", func() error { return store.Update(pod("a", "2")) }, "2"},
			{"get", func() error { _, _, err := store.Get(pod("a", "9")); return err }, "2"},
			{"delete", func() error { return store.Delete(pod("a", "7")) }, "7"},
			{"delete of an unknown object", func() error { return store.Delete(pod("a", "8")) }, "8"},
			{"delete by key", func() error { return store.Delete(cache.ExplicitKey("ns/a")) }, "8"},
			{"delete by tombstone", func() error {
				return store.Delete(cache.DeletedFinalStateUnknown{Key: "ns/a", Obj: pod("a", "9")})
			}, "8"},
			{"bookmark", func() error { store.Bookmark("20"); return nil }, "20"},
			{"older bookmark", func() error { store.Bookmark("19"); return nil }, "19"},
			{"replace", func() error { return store.Replace([]any{pod("a", "30")}, "25") }, "25"},
			{"replace that fails", func() error { _ = store.Replace([]any{"bad"}, "26"); return nil }, "25"},
			{"resync", store.Resync, "25"},
			{"odd version", func() error { return store.Add(pod("a", "v1.x")) }, "v1.x"},
			{"no version", func() error { return store.Update(pod("a", "")) }, ""},
			{"bookmark again", func() error { store.Bookmark("40"); return nil }, "40"},
			{"empty bookmark", func() error { store.Bookmark(""); return nil }, ""},
			{"replace with objects and no version", func() error { return store.Replace([]any{pod("a", "41")}, "") }, ""},
		}
		for _, step := range steps {
			require.NoError(t, step.do(), step.name)
			assert.Equal(t, step.want, store.LastStoreSyncResourceVersion(), step.name)
		}
	})
}
