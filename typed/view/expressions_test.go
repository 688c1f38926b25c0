package view_test

import (
	"cmp"
	"fmt"
	"iter"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/selection"

	"github.com/kubetyped/informer/index"
	"github.com/kubetyped/informer/typed/view"
)

// thing is an object of all collections of the model.
type thing struct {
	namespace, name string
	labels          map[string]string
	selector        map[string]string // nil: none
	value           int
	made            string // how it was made
	bad             bool   // functions panic
}

// check panics if the object is bad.
func (x *thing) check() *thing {
	if x.bad {
		panic("bad " + x.name)
	}
	return x
}

func (x *thing) GetNamespace() string         { return x.namespace }
func (x *thing) GetName() string              { return x.name }
func (x *thing) GetLabels() map[string]string { return x.labels }

func (x *thing) Equal(y *thing) bool {
	return x.value == y.value && x.made == y.made && x.bad == y.bad && maps.Equal(x.labels, y.labels) && maps.Equal(x.selector, y.selector) && (x.selector == nil) == (y.selector == nil)
}

// DeepCopy is for transforms, which the views of the model have none of.
func (x *thing) DeepCopy() *thing {
	c := *x
	c.labels, c.selector = maps.Clone(x.labels), maps.Clone(x.selector)
	return &c
}

func (x *thing) String() string {
	return fmt.Sprintf("%s/%s %v %v %d %s", x.namespace, x.name, x.labels, x.selector, x.value, x.made)
}

func (x *thing) selects() labels.Selector {
	if x.check().selector == nil {
		return nil
	}
	made := labels.SelectorFromSet(x.selector)
	for _, r := range requirements[x.value%len(requirements)] {
		made = made.Add(r)
	}
	return made
}

// requirements are of all kinds; some name a value twice.
var requirements = []labels.Requirements{
	nil,
	{requirement("x", selection.In, "0", "1", "0")},
	{requirement("y", selection.NotIn, "1")},
	{requirement("x", selection.Exists), requirement("y", selection.DoesNotExist)},
	{requirement("y", selection.In, "0"), requirement("x", selection.NotEquals, "1")},
	{requirement("y", selection.In, "0", "1")},
	nil,
}

func requirement(label string, is selection.Operator, values ...string) labels.Requirement {
	r, err := labels.NewRequirement(label, is, values)
	if err != nil {
		panic(err)
	}
	return *r
}

// things are the objects of a collection, in order.
type things []*thing

func inOrder(all iter.Seq[*thing]) things {
	return slices.SortedFunc(all, func(a, b *thing) int {
		return cmp.Or(strings.Compare(a.namespace, b.namespace), strings.Compare(a.name, b.name))
	})
}

// unique keeps the first object of each key.
func unique(all things) things {
	there := map[index.Key]*thing{}
	for _, x := range all {
		if _, ok := there[index.KeyOf(x)]; !ok {
			there[index.KeyOf(x)] = x
		}
	}
	return inOrder(maps.Values(there))
}

func values(all iter.Seq[*thing]) (s string) {
	for x := range all {
		s += fmt.Sprintf(" %s/%s=%d", x.namespace, x.name, x.check().value)
	}
	return s
}

// expression is a view, and how it is computed from scratch.
type expression struct {
	name  string
	view  *view.View[*thing]
	plain func(inputs []things) things
	uses  int // the inputs that it is made of, a bit each
}

func newExpression(name string, v *view.View[*thing], plain func(inputs []things) things) expression {
	return expression{name: name, view: v, plain: plain}
}

// functions of views, and of the same from scratch
var (
	byValue = view.One(func(x *thing) (int, bool) { return x.check().value % 5, x.value%7 != 0 })
	byBoth  = view.Many(func(x *thing) []int { return []int{x.check().value % 5, x.value % 3, x.value % 5} })
)

func keysOf(x *thing, many bool) []int {
	if many {
		return []int{x.value % 5, x.value % 3}
	}
	if x.value%7 == 0 {
		return nil
	}
	return []int{x.value % 5}
}

func renamed(x *thing) *thing {
	if x.check().value%4 == 0 {
		return nil
	}
	return &thing{x.namespace, fmt.Sprint("m", x.value%6), x.labels, x.selector, x.value + 1, "map " + x.name, false}
}

// nameless makes few different objects, whose names do not identify their inputs.
func nameless(x *thing) *thing {
	return &thing{"", fmt.Sprint("one", x.check().value%2), nil, nil, x.value % 3, "nameless", false}
}

func split(x *thing) (all []*thing) {
	for i := range x.check().value % 4 {
		all = append(all, &thing{x.namespace, fmt.Sprint("s", (x.value+i*i)%8), x.labels, x.selector, x.value + i, "split " + x.name, false})
	}
	return all
}

func joined(x *thing, with iter.Seq[*thing]) (*thing, bool) {
	found := values(with)
	if x.check().value%3 == 0 && found == "" {
		return nil, false
	}
	return &thing{x.namespace, x.name, x.labels, x.selector, x.value + len(found)%5, "joined" + found, false}, true
}

func grouped(key int, all iter.Seq[*thing]) (*thing, bool) {
	found := values(all)
	return &thing{"groups", fmt.Sprint("g", key/2), map[string]string{"a": fmt.Sprint(key % 2)}, nil, len(found) % 11, "group" + found, false}, true
}

type sum struct{ n, sum int }

var summing = view.Fold[*thing, sum]{
	Add:    func(s *sum, x *thing) { s.n++; s.sum += x.check().value },
	Remove: func(s *sum, x *thing) { s.n--; s.sum -= x.check().value },
}

func summed(key int, s *sum, n int) (*thing, bool) {
	if n != s.n {
		panic(fmt.Sprint("the state has ", s.n, " objects, not ", n))
	}
	return &thing{"sums", fmt.Sprint(key), nil, nil, s.sum % 17, fmt.Sprint(s.sum, " of ", n), false}, s.sum%5 != 0
}

// grow returns an expression over others, which the numbers that next returns decide.
func grow(made []expression, next func(n int) int) expression {
	a, b := made[next(len(made))], made[next(len(made))]
	e := growOver(a, b, next)
	e.uses = a.uses | b.uses
	return e
}

// growOver returns one over one of two, or both.
func growOver(a, b expression, next func(n int) int) expression {
	many := next(2) == 0
	keys := byValue
	if many {
		keys = byBoth
	}
	share := func(x, y *thing) bool {
		return slices.ContainsFunc(keysOf(x, many), func(k int) bool { return slices.Contains(keysOf(y, many), k) })
	}
	each := func(in []things, f func(x *thing) []*thing) things {
		var all things
		for _, x := range a.plain(in) {
			all = append(all, f(x)...)
		}
		return unique(all)
	}
	joinWith := func(match func(x, y *thing) bool) func(in []things) things {
		return func(in []things) things {
			right := b.plain(in)
			return each(in, func(x *thing) []*thing {
				with := slices.Collect(func(yield func(*thing) bool) {
					for _, y := range right {
						if match(x, y) && !yield(y) {
							return
						}
					}
				})
				if out, ok := joined(x, slices.Values(with)); ok {
					return []*thing{out}
				}
				return nil
			})
		}
	}
	selects := func(x, y *thing) bool {
		return x.selects() != nil && (x.namespace == "" || x.namespace == y.namespace) && x.selects().Matches(labels.Set(y.labels))
	}
	groups := func(in []things) map[int]things {
		by := map[int]things{}
		for _, x := range a.plain(in) {
			for _, k := range keysOf(x, many) {
				if !slices.Contains(by[k], x) {
					by[k] = append(by[k], x)
				}
			}
		}
		return by
	}
	two := a.name + ", " + b.name
	switch next(13) {
	case 0, 11:
		rename := renamed
		if next(2) == 0 {
			rename = nameless
		}
		return newExpression("map("+a.name+")", view.Map(a.view, rename, view.WithChecks()), func(in []things) things {
			return each(in, func(x *thing) []*thing {
				if out := rename(x); out != nil {
					return []*thing{out}
				}
				return nil
			})
		})
	case 1:
		keep := func(x *thing) bool { return x.check().value%3 != 0 }
		return newExpression("filter("+a.name+")", view.Filter(a.view, keep), func(in []things) things {
			return slices.DeleteFunc(slices.Clone(a.plain(in)), func(x *thing) bool { return !keep(x) })
		})
	case 2:
		return newExpression("flatmap("+a.name+")", view.FlatMap(a.view, split, view.WithChecks()), func(in []things) things { return each(in, split) })
	case 3:
		return newExpression("union("+two+")", view.Union(a.view, b.view), func(in []things) things {
			return unique(append(slices.Clone(a.plain(in)), b.plain(in)...))
		})
	case 4:
		return newExpression("on("+two+")", view.JoinOn(a.view, b.view, keys, keys, joined, view.WithChecks()), joinWith(share))
	case 5:
		return newExpression("selecting("+two+")", view.JoinSelecting(a.view, b.view, (*thing).selects, joined), joinWith(selects))
	case 6:
		return newExpression("selected("+two+")", view.JoinSelectedBy(a.view, b.view, (*thing).selects, joined), joinWith(func(x, y *thing) bool { return selects(y, x) }))
	case 7:
		return newExpression("group("+a.name+")", view.Group(a.view, keys, grouped), func(in []things) things {
			var all things
			by := groups(in)
			for _, k := range slices.SortedFunc(maps.Keys(by), func(a, b int) int { return strings.Compare(fmt.Sprint(a), fmt.Sprint(b)) }) {
				if out, ok := grouped(k, slices.Values(by[k])); ok {
					all = append(all, out)
				}
			}
			return unique(all)
		})
	case 8:
		return newExpression("reduce("+a.name+")", view.Reduce(a.view, keys, summing, summed, view.WithChecks()), func(in []things) things {
			var all things
			for k, of := range groups(in) {
				var s sum
				for _, x := range of {
					summing.Add(&s, x)
				}
				if out, ok := summed(k, &s, len(of)); ok {
					all = append(all, out)
				}
			}
			return unique(all)
		})
	case 9, 12:
		return newExpression("distinct("+a.name+")", view.Distinct(a.view, keys), func(in []things) things {
			var all things
			for _, of := range groups(in) {
				all = append(all, of[0])
			}
			return unique(all)
		})
	default:
		byKey, byLabel, bySelector := view.By(b.view, keys), view.ByLabels(b.view), view.BySelector(b.view, (*thing).selects)
		compute := func(x *thing, of func(k int) string, selected func() string, matched func() string) (*thing, bool) {
			found := ""
			for i := range x.check().value % 3 {
				found += of(x.value%5 + i)
			}
			if strings.Contains(found, "=3") {
				found += selected()
			} else if x.value%2 == 0 {
				found += matched()
			}
			return &thing{x.namespace, x.name, x.labels, x.selector, len(found) % 13, "computed" + found, false}, true
		}
		return newExpression(
			"compute("+two+")",
			view.Compute(a.view, func(f *view.Fetcher, x *thing) (*thing, bool) {
				return compute(x, func(k int) string { return values(byKey.Fetch(f, k)) },
					func() string { return values(byLabel.Select(f, x.namespace, x.selects())) },
					func() string { return values(bySelector.Match(f, x.namespace, x.labels)) })
			}, []view.AnyLookup{byKey, byLabel, bySelector}, view.WithChecks()),
			func(in []things) things {
				right := b.plain(in)
				which := func(match func(y *thing) bool) string {
					return values(func(yield func(*thing) bool) {
						for _, y := range right {
							if match(y) && !yield(y) {
								return
							}
						}
					})
				}
				return each(in, func(x *thing) []*thing {
					out, _ := compute(x, func(k int) string {
						return which(func(y *thing) bool { return slices.Contains(keysOf(y, many), k) })
					}, func() string { return which(func(y *thing) bool { return selects(x, y) }) },
						func() string { return which(func(y *thing) bool { return selects(y, x) }) })
					return []*thing{out}
				})
			},
		)
	}
}
