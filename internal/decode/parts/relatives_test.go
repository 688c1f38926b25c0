package parts

import (
	"fmt"
	"reflect"
	"runtime"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var pointers, _ = PointersTo[*text](reflect.TypeFor[*text]())

// TestRelatives: what an object is compared with is the first of its namespace whose
// name begins alike, or else the last that was noted.
func TestRelatives(t *testing.T) {
	t.Parallel()
	relatives := NewRelatives(pointers)
	all := map[string]*text{}
	decode := func(namespace, name, like string) {
		made, ok := relatives.Decode(namespace, name, func(relative *text) (*text, bool) {
			assert.Same(t, all[like], relative, name)
			return &text{name}, true
		})
		require.True(t, ok)
		all[namespace+"/"+name] = made
	}
	all[""] = nil
	decode("default", "shop-7d9f8-x2x4z", "")
	decode("default", "shop-7d9f8-abcde", "default/shop-7d9f8-x2x4z")
	decode("default", "shop-7d9f8-vwxyz", "default/shop-7d9f8-x2x4z")
	decode("other", "shop-7d9f8-abcde", "default/shop-7d9f8-x2x4z")
	decode("default", "db-0", "other/shop-7d9f8-abcde")
	decode("default", "db-10", "default/db-0")
	decode("default", "single", "default/db-0")
	decode("default", "one", "default/single")
	decode("other", "shop-7d9f8-vwxyz", "other/shop-7d9f8-abcde")

	failed, ok := relatives.Decode("default", "bad-0", func(*text) (*text, bool) { return nil, false })
	assert.False(t, ok)
	assert.Nil(t, failed)
	decode("default", "bad-1", "default/single") // an object that failed to decode is not a relative
	runtime.KeepAlive(all)
}

// TestRelativesKeepNothing: an unreachable object is collected, and is no relative any more.
func TestRelativesKeepNothing(t *testing.T) {
	relatives := NewRelatives(pointers)
	made := func(*text) (*text, bool) { return &text{"one"}, true }
	gone := make(chan struct{})
	func() {
		one, ok := relatives.Decode("default", "shop-0", made)
		require.True(t, ok)
		runtime.AddCleanup(one, func(done chan struct{}) { close(done) }, gone)
	}()
	for {
		runtime.GC()
		select {
		case <-gone:
			_, ok := relatives.Decode("default", "shop-1", func(like *text) (*text, bool) {
				assert.Nil(t, like)
				return nil, false
			})
			assert.False(t, ok)
			return
		default:
			runtime.Gosched()
		}
	}
}

// TestRelativesOfManyNames: the number of relatives is bounded, even if no name begins like
// another.
func TestRelativesOfManyNames(t *testing.T) {
	t.Parallel()
	relatives := NewRelatives(pointers)
	one := &text{}
	for i := range 3*mostRelatives + 5 {
		got, ok := relatives.Decode("default", fmt.Sprintf("name%d-", i), func(*text) (*text, bool) { return one, true })
		require.True(t, ok)
		require.Equal(t, one.text, got.text)
	}
	assert.Len(t, relatives.known, 5, "it forgot, three times")
}
