package index_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/kubetyped/informer/index"
)

func names(pods []*pod) []string {
	list := make([]string, len(pods))
	for i, p := range pods {
		list[i] = p.name
	}
	slices.Sort(list)
	return list
}

func selector(t *testing.T, s string) labels.Selector {
	t.Helper()
	parsed, err := labels.Parse(s)
	require.NoError(t, err)
	return parsed
}

// TestCandidates says for each selector which objects the indexes leave. Two
// labels are indexed, tier is not; an object that is left out by mistake would
// be missing from a list, one that stays costs time.
func TestCandidates(t *testing.T) {
	pods := []*pod{
		{namespace: "x", name: "web1", labels: map[string]string{"app": "web", "zone": "a", "tier": "1"}},
		{namespace: "x", name: "web2", labels: map[string]string{"app": "web", "zone": "b"}},
		{namespace: "y", name: "web3", labels: map[string]string{"app": "web"}},
		{namespace: "y", name: "db", labels: map[string]string{"app": "db", "zone": "a", "tier": "1"}},
		{namespace: "y", name: "blank", labels: map[string]string{"app": ""}},
		{name: "none"},
	}
	all := names(pods)
	store := newStore(t, []handle{byNode(), index.Labels[*pod]("app"), index.Labels[*pod]("zone", "app")}, pods...)

	for name, test := range map[string]struct {
		namespace string
		selector  labels.Selector
		want      []string
	}{
		"nil":                   {"", nil, all},
		"everything":            {"", labels.Everything(), all},
		"nothing":               {"", labels.Nothing(), []string{}},
		"namespace, nil":        {"x", nil, []string{"web1", "web2"}},
		"namespace, everything": {"y", labels.Everything(), []string{"blank", "db", "web3"}},
		"namespace, nothing":    {"y", labels.Nothing(), []string{}},
		"namespace unknown":     {"z", labels.Everything(), []string{}},
		"equals":                {"", selector(t, "app=web"), []string{"web1", "web2", "web3"}},
		"equals, empty value":   {"", selector(t, "app="), []string{"blank"}},
		"equals, in namespace":  {"y", selector(t, "app==web"), []string{"web3"}},
		"equals, unknown":       {"", selector(t, "app=cache"), []string{}},
		"in":                    {"", selector(t, "app in (web,db,cache)"), []string{"db", "web1", "web2", "web3"}},
		"two labels":            {"", selector(t, "app in (web,db),zone=a"), []string{"db", "web1"}},
		"contradiction":         {"", selector(t, "app=web,app=db"), []string{}},
		"not in":                {"", selector(t, "app notin (web)"), []string{"blank", "db", "none"}},
		"not equal":             {"x", selector(t, "app!=web"), []string{}},
		"not equal, empty":      {"", selector(t, "app!="), []string{"db", "none", "web1", "web2", "web3"}},
		"exists":                {"", selector(t, "zone"), []string{"db", "web1", "web2"}},
		"exists, empty value":   {"y", selector(t, "app"), []string{"blank", "db", "web3"}},
		"does not exist":        {"", selector(t, "!zone"), []string{"blank", "none", "web3"}},
		"not indexed":           {"", selector(t, "tier=1"), all},
		"partly indexed":        {"", selector(t, "tier=1,zone=a,app!=db"), []string{"web1"}},
	} {
		t.Run(name, func(t *testing.T) {
			assert.Equal(t, test.want, names(slices.Collect(store.Candidates(test.namespace, test.selector))))
			assert.Equal(t, test.want, names(slices.Collect(store.Snapshot().Candidates(test.namespace, test.selector))))
			if test.selector == nil {
				return
			}
			for _, p := range pods {
				if test.selector.Matches(labels.Set(p.labels)) && (test.namespace == "" || test.namespace == p.namespace) {
					assert.Contains(t, test.want, p.name, "the expectation itself is wrong")
				}
			}
		})
	}
}

// TestLabelsIndex is about the handle itself: it is an index like any other.
func TestLabelsIndex(t *testing.T) {
	x := index.Labels[*pod]("zone", "app", "zone")
	assert.Equal(t, "labels(app,zone)", x.Name())
	a := &pod{name: "a", labels: map[string]string{"app": "web", "zone": "a", "other": "o"}}
	b := &pod{name: "b", labels: map[string]string{"app": ""}}
	newStore(t, []handle{x}, a, b, &pod{name: "c"})

	assert.Equal(t, []*pod{a}, x.Get(index.Label{Key: "zone", Value: "a"}))
	assert.Equal(t, []*pod{b}, x.Get(index.Label{Key: "app"}))
	assert.Empty(t, x.Get(index.Label{Key: "zone"}))
	assert.ElementsMatch(t,
		[]index.Label{{Key: "app", Value: "web"}, {Key: "zone", Value: "a"}, {Key: "app"}},
		slices.Collect(x.Keys()))
}

// TestKeysThatLookLikeLabels makes an index of Label keys by hand: it is not
// taken for what Labels makes.
func TestKeysThatLookLikeLabels(t *testing.T) {
	x := index.Single("first address", func(p *pod) (index.Label, bool) { return index.Label{Key: "app", Value: "x"}, true })
	store := newStore(t, []handle{x}, &pod{name: "a", labels: map[string]string{"app": "web"}})
	assert.Len(t, slices.Collect(store.Candidates("", selector(t, "app=web"))), 1)
}
