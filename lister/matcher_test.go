package lister

import (
	"testing"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/selection"
	"pgregory.net/rapid"

	"github.com/kubetyped/informer/index"
)

// TestMatcherAgreesWithSelector: a matcher says what its selector says, and so
// does a lister, whatever is indexed.
func TestMatcherAgreesWithSelector(t *testing.T) { rapid.Check(t, checkMatcher) }

func FuzzMatcher(f *testing.F) { f.Fuzz(rapid.MakeFuzz(checkMatcher)) }

func checkMatcher(t *rapid.T) {
	selector := drawSelector(t)
	objs := rapid.SliceOfN(rapid.Custom(drawThing), 0, 12).Draw(t, "objects")

	matcher := newMatcher(selector)
	want := map[index.Key]*thing{}
	namespace := rapid.SampledFrom([]string{"", "a", "b"}).Draw(t, "listed namespace")
	last := map[index.Key]*thing{}
	for _, obj := range objs {
		require.Equal(t, selector.Matches(labels.Set(obj.labels)), matcher.matches(obj.labels), "%q: %v", selector, obj.labels)
		last[index.KeyOf(obj)] = obj
	}
	for key, obj := range last {
		if (namespace == "" || key.Namespace == namespace) && selector.Matches(labels.Set(obj.labels)) {
			want[key] = obj
		}
	}

	store := index.NewIndexer[*thing]()
	if keys := rapid.SliceOfN(rapid.SampledFrom(labelKeys), 0, 2).Draw(t, "indexed"); len(keys) > 0 {
		require.NoError(t, store.AddIndexes(index.Labels[*thing](keys...)))
	}
	store.Replace(nil, objs, "1", index.Initial)
	found, err := New(store).Namespace(namespace).List(selector)
	require.NoError(t, err)
	got := map[index.Key]*thing{}
	for _, obj := range found {
		got[index.KeyOf(obj)] = obj
	}
	require.Len(t, got, len(found), "an object was listed twice")
	require.Equal(t, want, got, "%q in %q", selector, namespace)
}

// thing is no more than what a lister reads.
type thing struct {
	namespace, name string
	labels          map[string]string
}

func (o *thing) GetNamespace() string         { return o.namespace }
func (o *thing) GetName() string              { return o.name }
func (o *thing) GetLabels() map[string]string { return o.labels }

// Few keys and values, so that selectors match now and then.
var (
	labelKeys   = []string{"app", "tier", "replica"}
	labelValues = []string{"", "web", "db", "0", "7"}
	operators   = []selection.Operator{
		selection.Equals, selection.DoubleEquals, selection.NotEquals,
		selection.In, selection.NotIn, selection.Exists, selection.DoesNotExist,
		selection.GreaterThan, selection.LessThan,
	}
)

func drawThing(t *rapid.T) *thing {
	return &thing{
		namespace: rapid.SampledFrom([]string{"a", "b"}).Draw(t, "namespace"),
		name:      rapid.SampledFrom([]string{"1", "2", "3", "4", "5", "6"}).Draw(t, "name"),
		labels:    rapid.MapOfN(rapid.SampledFrom(labelKeys), rapid.SampledFrom(labelValues), 0, 3).Draw(t, "labels"),
	}
}

func drawSelector(t *rapid.T) labels.Selector {
	switch rapid.IntRange(0, 9).Draw(t, "kind of selector") {
	case 0:
		return labels.Nothing()
	case 1:
		return labels.Everything()
	case 2:
		set := rapid.MapOfN(rapid.SampledFrom(labelKeys), rapid.SampledFrom(labelValues), 0, 3).Draw(t, "set")
		return labels.ValidatedSetSelector(set)
	}
	selector := labels.NewSelector()
	for range rapid.IntRange(0, 3).Draw(t, "requirements") {
		selector = selector.Add(*drawRequirement(t))
	}
	return selector
}

func drawRequirement(t *rapid.T) *labels.Requirement {
	key := rapid.SampledFrom(labelKeys).Draw(t, "key")
	operator := rapid.SampledFrom(operators).Draw(t, "operator")
	var values []string
	switch operator {
	case selection.Exists, selection.DoesNotExist:
	case selection.In, selection.NotIn:
		values = rapid.SliceOfN(rapid.SampledFrom(labelValues), 1, 3).Draw(t, "values")
	case selection.GreaterThan, selection.LessThan:
		values = []string{rapid.SampledFrom([]string{"0", "3", "7"}).Draw(t, "number")}
	default:
		values = []string{rapid.SampledFrom(labelValues).Draw(t, "value")}
	}
	requirement, err := labels.NewRequirement(key, operator, values)
	require.NoError(t, err)
	return requirement
}
