package lister_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/kubetyped/informer/index"
	"github.com/kubetyped/informer/lister"
)

func parse(t *testing.T, selector string) labels.Selector {
	s, err := labels.Parse(selector)
	require.NoError(t, err)
	return s
}

func fromAPI(t *testing.T, selector *metav1.LabelSelector) labels.Selector {
	s, err := metav1.LabelSelectorAsSelector(selector)
	require.NoError(t, err)
	return s
}

// TestListAsGenerated: the result of List is that of generated listers, for all
// namespaces and for one, nil when it is empty.
func TestListAsGenerated(t *testing.T) {
	everything := []string{"north/db-0", "north/web-0", "north/web-1", "south/blank", "south/job-7", "south/web-0"}
	webs := []string{"north/web-0", "north/web-1", "south/web-0"}
	for _, test := range []struct {
		name     string
		selector labels.Selector
		want     []string
	}{
		{"everything", labels.Everything(), everything},
		{"nothing", labels.Nothing(), nil},
		{"new", labels.NewSelector(), everything},
		{"nil set", labels.SelectorFromSet(nil), everything},
		{"nil set, not validated", labels.SelectorFromValidatedSet(nil), everything},
		{"nil of the API", fromAPI(t, nil), nil},
		{"empty one of the API", fromAPI(t, &metav1.LabelSelector{}), everything},
		{"validated set", labels.ValidatedSetSelector{"app": "web"}, webs},
		{"empty validated set", labels.ValidatedSetSelector{}, everything},
		{"=", parse(t, "app=web"), webs},
		{"==", parse(t, "app==db"), []string{"north/db-0"}},
		{"= empty value", parse(t, "app="), []string{"south/blank"}},
		{"= unknown value", parse(t, "app=cache"), nil},
		{"= unknown key", parse(t, "colour=red"), nil},
		{"!=", parse(t, "app!=web"), []string{"north/db-0", "south/blank", "south/job-7"}},
		{"in one", parse(t, "app in (web)"), webs},
		{"in two", parse(t, "app in (db,)"), []string{"north/db-0", "south/blank"}},
		{"notin", parse(t, "app notin (web,db)"), []string{"south/blank", "south/job-7"}},
		{"exists", parse(t, "app"), []string{"north/db-0", "north/web-0", "north/web-1", "south/blank", "south/web-0"}},
		{"does not exist", parse(t, "!app"), []string{"south/job-7"}},
		{">", parse(t, "replica>0"), []string{"north/web-1", "south/web-0"}},
		{"<", parse(t, "replica<2"), []string{"north/db-0", "north/web-0", "north/web-1"}},
		{"two keys", parse(t, "app=web,replica=0"), []string{"north/web-0"}},
		{"two keys, one in several", parse(t, "app in (web,db),replica=0"), []string{"north/db-0", "north/web-0"}},
		{"two keys, one by number", parse(t, "app=web,replica>0"), []string{"north/web-1", "south/web-0"}},
		{"four times the same", parse(t, "app=web,app==web,app in (web),app=web"), webs},
		{"contradiction", parse(t, "app=web,app=db"), nil},
		{"contradiction by sets", parse(t, "app in (web),app notin (web)"), nil},
		{"all keys", parse(t, "app=web,tier=front,replica=12"), []string{"south/web-0"}},
		{"one that matches less than it requires", oneIn{parse(t, "app=web"), "1"}, []string{"north/web-1"}},
		{"one that calls itself empty", oneIn{labels.Everything(), "1"}, everything},
	} {
		t.Run(test.name, func(t *testing.T) {
			eachLister(t, shops(), func(t *testing.T, l podLister) {
				for _, namespace := range []string{"", "north", "south", "nowhere"} {
					var want []string
					for _, key := range test.want {
						if strings.HasPrefix(key, namespace) {
							want = append(want, key)
						}
					}
					got, err := l.namespace(namespace).List(test.selector)
					require.NoError(t, err)
					assert.Equal(t, want, keys(got), "in %q", namespace)
					if want == nil {
						assert.Nil(t, got, "in %q", namespace)
					}
				}
				got, err := l.list(test.selector)
				require.NoError(t, err)
				assert.Equal(t, test.want, keys(got))
				if test.want == nil {
					assert.Nil(t, got)
				}
			})
		})
	}
}

// oneIn is another program's selector: it matches the objects of the embedded one that also have
// that replica.
type oneIn struct {
	labels.Selector
	replica string
}

func (s oneIn) Matches(have labels.Labels) bool {
	return s.Selector.Matches(have) && have.Get("replica") == s.replica
}

func TestListOfEmptyStoreIsNil(t *testing.T) {
	eachLister(t, nil, func(t *testing.T, l podLister) {
		for _, selector := range []labels.Selector{labels.Everything(), labels.Nothing(), parse(t, "app=web"), parse(t, "!app")} {
			for name, list := range map[string]func(labels.Selector) ([]*corev1.Pod, error){
				"all": l.list, "all by namespace": l.namespace("").List, "north": l.namespace("north").List,
			} {
				got, err := list(selector)
				assert.NoError(t, err)
				assert.Nil(t, got, "%s %q", name, selector)
			}
		}
	})
}

// TestListIsTheCallers: what a caller does to the slice shows nowhere else.
func TestListIsTheCallers(t *testing.T) {
	eachLister(t, shops(), func(t *testing.T, l podLister) {
		for _, selector := range []labels.Selector{labels.Everything(), parse(t, "app=web"), parse(t, "replica>0")} {
			first, err := l.list(selector)
			require.NoError(t, err)
			want := keys(first)
			clear(first)
			_ = append(first[:0], pod("x", "y", nil))
			second, err := l.list(selector)
			require.NoError(t, err)
			assert.Equal(t, want, keys(second), "%q", selector)
		}
	})
}

// TestListSharesObjects: the objects are those of the store, not copies.
func TestListSharesObjects(t *testing.T) {
	pods := shops()
	eachLister(t, pods, func(t *testing.T, l podLister) {
		got, err := l.namespace("north").List(parse(t, "app=db"))
		require.NoError(t, err)
		require.Len(t, got, 1)
		assert.Same(t, pods[2], got[0])
		one, err := l.namespace("north").Get("db-0")
		require.NoError(t, err)
		assert.Same(t, pods[2], one)
	})
}

// TestNilSelectorMatchesEverything: generated listers panic here.
func TestNilSelectorMatchesEverything(t *testing.T) {
	l := lister.New(storeOf(t, shops()))
	all, err := l.List(nil)
	require.NoError(t, err)
	assert.Len(t, all, 6)
	north, err := l.Namespace("north").List(nil)
	require.NoError(t, err)
	assert.Len(t, north, 3)
	assert.Len(t, slices.Collect(l.All(nil)), 6)
}

func TestAllRangesOverTheObjectsOfList(t *testing.T) {
	l := lister.New(storeOf(t, shops(), index.Labels[*corev1.Pod]("app")))
	for _, selector := range []labels.Selector{labels.Everything(), labels.Nothing(), parse(t, "app=web"), parse(t, "replica>0,app"), parse(t, "!app")} {
		for _, namespace := range []string{"", "north", "south", "nowhere"} {
			list, err := l.Namespace(namespace).List(selector)
			require.NoError(t, err)
			assert.Equal(t, keys(list), keys(slices.Collect(l.Namespace(namespace).All(selector))), "%q in %q", selector, namespace)
		}
		list, err := l.List(selector)
		require.NoError(t, err)
		assert.Equal(t, keys(list), keys(slices.Collect(l.All(selector))), "%q", selector)
	}
}

// TestAllMayBeLeftAndMayWrite: a loop may be left, and its body may write to
// the store, which the rest of the range does not see.
func TestAllMayBeLeftAndMayWrite(t *testing.T) {
	for name, selector := range map[string]labels.Selector{"everything": labels.Everything(), "by index": parse(t, "app=web"), "without": parse(t, "tier=front")} {
		t.Run(name, func(t *testing.T) {
			store := storeOf(t, shops(), index.Labels[*corev1.Pod]("app"))
			l := lister.New(store)
			want, err := l.List(selector)
			require.NoError(t, err)

			for range l.All(selector) {
				break
			}
			var seen []*corev1.Pod
			for p := range l.All(selector) {
				store.Replace(nil, nil, "2", index.Relisted)
				seen = append(seen, p)
			}
			assert.Equal(t, keys(want), keys(seen))
			assert.Empty(t, slices.Collect(l.All(selector)))
		})
	}
}

// TestAllReadsWhenItIsRanged: each loop over a kept sequence reads the store again.
func TestAllReadsWhenItIsRanged(t *testing.T) {
	store := storeOf(t, shops())
	l := lister.New(store)
	everything, north, webs := l.All(nil), l.Namespace("north").All(nil), l.All(parse(t, "app=web"))
	require.Len(t, slices.Collect(everything), 6)
	require.Len(t, slices.Collect(north), 3)
	require.Len(t, slices.Collect(webs), 3)
	store.Replace(nil, shops()[:1], "2", index.Relisted)
	assert.Len(t, slices.Collect(everything), 1)
	assert.Len(t, slices.Collect(north), 1)
	assert.Len(t, slices.Collect(webs), 1)
}

// TestAllOverManyObjects: objects are looked at in blocks; none is left out or
// comes twice, and a loop that is left gets no more, wherever it is left.
func TestAllOverManyObjects(t *testing.T) {
	for _, n := range []int{63, 64, 65, 128, 200} {
		var pods []*corev1.Pod
		for i := range n {
			pods = append(pods, pod("north", fmt.Sprint("web-", i), labels.Set{"app": "web", "odd": fmt.Sprint(i % 2)}))
		}
		l := lister.New(storeOf(t, pods))
		for selector, want := range map[string]int{"app=web": n, "app": n, "odd=0": (n + 1) / 2, "app=web,odd=1": n / 2, "app!=web": 0} {
			found, err := l.List(parse(t, selector))
			require.NoError(t, err)
			assert.Len(t, found, want, "%q of %d", selector, n)
			assert.Len(t, slices.Compact(keys(found)), want, "%q of %d", selector, n)
			for leave := 1; leave <= want; leave++ {
				seen := 0
				for range l.All(parse(t, selector)) {
					if seen++; seen == leave {
						break
					}
				}
				assert.Equal(t, leave, seen, "%q of %d", selector, n)
			}
		}
	}
}
