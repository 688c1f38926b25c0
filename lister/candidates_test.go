package lister_test

import (
	"iter"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/kubetyped/informer/index"
	"github.com/kubetyped/informer/lister"
)

// counting is a store that counts the objects that a lister looks at.
type counting struct {
	index.Reader[*corev1.Pod]
	looked int
}

func (c *counting) Candidates(namespace string, selector labels.Selector) iter.Seq[*corev1.Pod] {
	return func(yield func(*corev1.Pod) bool) {
		for p := range c.Reader.Candidates(namespace, selector) {
			c.looked++
			if !yield(p) {
				return
			}
		}
	}
}

// TestIndexedSelectorsRangeOverCandidates: only the objects that have the
// indexed labels, in the namespace, are looked at.
func TestIndexedSelectorsRangeOverCandidates(t *testing.T) {
	for _, test := range []struct {
		namespace, selector string
		plain, indexed      int // objects looked at, with no index and with one of "app" and "tier"
	}{
		{"", "app=web", 6, 3},
		{"", "app==db", 6, 1},
		{"", "app in (web,db)", 6, 4},
		{"", "app=", 6, 1},
		{"", "app=cache", 6, 0},
		{"", "app=web,replica=0", 6, 3},
		{"", "app=web,tier=back", 6, 0},
		{"", "app=web,app=db", 6, 0},
		{"", "tier=front,app in (db,web)", 6, 3},
		{"", "app!=web", 6, 3},
		{"", "app", 6, 5},
		{"", "replica=0", 6, 6},
		{"", "replica>0,tier=front", 6, 3},
		{"north", "app=web", 3, 2},
		{"north", "!app", 3, 0},
		{"south", "app=db", 3, 0},
		{"nowhere", "app=web", 0, 0},
	} {
		look := func(indexes ...index.Definition[*corev1.Pod]) (int, []string) {
			from := &counting{Reader: storeOf(t, shops(), indexes...)}
			found, err := lister.New(from).Namespace(test.namespace).List(parse(t, test.selector))
			require.NoError(t, err)
			return from.looked, keys(found)
		}
		plain, want := look()
		indexed, got := look(index.Labels[*corev1.Pod]("app", "tier"))
		assert.Equal(t, want, got, "%q in %q", test.selector, test.namespace)
		assert.Equal(t, test.plain, plain, "without an index: %q in %q", test.selector, test.namespace)
		assert.Equal(t, test.indexed, indexed, "with an index: %q in %q", test.selector, test.namespace)
	}
}

// TestIndexAddedLater: a lister uses the indexes that the store has when it is
// read.
func TestIndexAddedLater(t *testing.T) {
	store := storeOf(t, shops())
	from := &counting{Reader: store}
	l := lister.New(from)
	require.NoError(t, store.AddIndexes(index.Labels[*corev1.Pod]("app")))
	found, err := l.List(parse(t, "app=db"))
	require.NoError(t, err)
	assert.Len(t, found, 1)
	assert.Equal(t, 1, from.looked)
}
