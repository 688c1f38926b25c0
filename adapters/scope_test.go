package adapters

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/cache"

	"github.com/kubetyped/informer/index"
	"github.com/kubetyped/informer/typed/source"
)

// stays are the stays of a namespace that reads find, one after the other; 0 is none.
type stays []uint64

// Stay implements source.Scoped.
func (s *stays) Stay(namespace string) (uint64, error) {
	stay := (*s)[0]
	*s = (*s)[1:]
	if stay == 0 {
		return 0, &source.NamespaceError{Namespace: namespace, Err: source.ErrOutside}
	}
	return stay, nil
}

// TestReadsWhileANamespaceLeaves: a read that finds nothing returns an error if the namespace has
// left meanwhile, even if it is back; one that finds an object has found it.
func TestReadsWhileANamespaceLeaves(t *testing.T) {
	pods := index.NewIndexer[*corev1.Pod]()
	x := newIndexer(pods, pods, pods.AddIndexes, ofType[*corev1.Pod]())
	require.NoError(t, x.AddIndexers(cache.Indexers{cache.NamespaceIndex: cache.MetaNamespaceIndexFunc}))
	require.NoError(t, x.Add(&corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "red", Name: "a"}}))
	during := func(all ...uint64) { x.scope = &scope{Scoped: (*stays)(&all)} }
	for _, after := range []struct {
		stay uint64
		want error
	}{{1, nil}, {2, source.ErrUnlisted}, {0, source.ErrOutside}} {
		during(1, after.stay)
		_, found, err := x.GetByKey("red/missing")
		assert.ErrorIs(t, err, after.want)
		assert.False(t, found)
		during(1, after.stay)
		_, err = x.ByIndex(cache.NamespaceIndex, "red")
		assert.ErrorIs(t, err, after.want)
		during(1, after.stay)
		_, err = x.ByTypedIndex(cache.NamespaceIndex, "blue")
		assert.ErrorIs(t, err, after.want)
		during(1, after.stay)
		_, found, err = x.GetByKey("red/a")
		assert.NoError(t, err)
		assert.True(t, found)
	}
}
