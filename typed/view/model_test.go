package view_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/kubetyped/informer/index"
	"github.com/kubetyped/informer/typed"
	"github.com/kubetyped/informer/typed/view"
)

// write changes some objects of a set at random.
func write(set *view.Set[*thing], random *rand.Rand) {
	key := func() index.Key {
		return index.Key{Namespace: []string{"", "a", "b"}[random.IntN(3)], Name: fmt.Sprint("n", random.IntN(9))}
	}
	some := func() map[string]string {
		if random.IntN(4) == 0 {
			return nil
		}
		all := map[string]string{}
		for range random.IntN(3) {
			all[[]string{"x", "y"}[random.IntN(2)]] = fmt.Sprint(random.IntN(2))
		}
		return all
	}
	object := func() *thing {
		k := key()
		return &thing{k.Namespace, k.Name, some(), some(), random.IntN(30), ""}
	}
	switch random.IntN(8) {
	case 0:
		var all []*thing
		for range random.IntN(12) {
			all = append(all, object())
		}
		set.Replace(all...)
	case 1, 2:
		set.Delete(key(), key())
	default:
		set.Put(object(), object())
	}
}

// TestModel compares views of any operators with the same computed from scratch, after
// histories of steps of any size.
func TestModel(t *testing.T) { rapid.Check(t, checkModel(t)) }

func FuzzModel(f *testing.F) {
	f.Fuzz(func(t *testing.T, input []byte) { rapid.MakeFuzz(checkModel(t))(t, input) })
}

func checkModel(t *testing.T) func(*rapid.T) {
	return func(rt *rapid.T) {
		shape := rapid.SliceOfN(rapid.Uint16(), 40, 40).Draw(rt, "shape")
		size := rapid.IntRange(1, 7).Draw(rt, "views")
		seed := rapid.Uint64().Draw(rt, "seed")
		at := 0
		next := func(n int) int {
			at++
			return int(shape[(at-1)%len(shape)]) % n
		}
		var complaint string
		synctest.Test(t, func(t *testing.T) {
			sets := []*view.Set[*thing]{view.NewSet[*thing](), view.NewSet[*thing]()}
			made := []expression{}
			for i, s := range sets {
				made = append(made, expression{fmt.Sprint("set", i), s.View(), func(in []things) things { return in[i] }})
			}
			for range size {
				made = append(made, grow(made, next))
			}
			e := made[len(made)-1]
			require.NoError(t, e.view.Err())
			complaint = checkExpression(t, e, sets, rand.New(rand.NewPCG(seed, 1)))
		})
		if complaint != "" {
			rt.Fatal(complaint)
		}
	}
}

// checkExpression runs a view while its inputs change, and returns what is wrong with it.
func checkExpression(t *testing.T, e expression, sets []*view.Set[*thing], random *rand.Rand) string {
	for range random.IntN(5) {
		write(sets[random.IntN(2)], random)
	}
	told := map[index.Key]*thing{}
	complaint := ""
	informer := typed.NewInformer(e.view)
	_, err := informer.Handle(typed.HandlerFuncs[*thing]{
		AddFunc: func(x *thing, _ bool) {
			if told[index.KeyOf(x)] != nil {
				complaint = fmt.Sprint("added twice: ", x)
			}
			told[index.KeyOf(x)] = x
		},
		UpdateFunc: func(old, x *thing) {
			if told[index.KeyOf(x)] != old {
				complaint = fmt.Sprint("updated from another state: ", x)
			}
			told[index.KeyOf(x)] = x
		},
		DeleteFunc: func(d typed.Deleted[*thing]) {
			if told[d.Key] != d.Object {
				complaint = fmt.Sprint("deleted in another state: ", d.Key)
			}
			delete(told, d.Key)
		},
	})
	require.NoError(t, err)
	stop := run(t, informer)
	defer stop()
	for range 12 {
		synctest.Wait()
		inputs := make([]things, len(sets))
		for i, s := range sets {
			inputs[i] = inOrder(s.All())
		}
		want, got := fmt.Sprint(e.plain(inputs)), fmt.Sprint(inOrder(informer.All()))
		if want != got && complaint == "" {
			complaint = fmt.Sprintf("%s\nof   %v\nis   %s\nwant %s", e.name, inputs, got, want)
		}
		if replayed := fmt.Sprint(inOrder(maps.Values(told))); replayed != got && complaint == "" {
			complaint = fmt.Sprintf("%s\ntold %s\nhas  %s", e.name, replayed, got)
		}
		if complaint != "" {
			return complaint
		}
		for range random.IntN(4) {
			write(sets[random.IntN(2)], random)
		}
	}
	return ""
}

// run runs an informer until the returned function is called.
func run[T index.Object](t *testing.T, informer *typed.Informer[T]) (stop func()) {
	t.Helper()
	ctx, cancel := contextOf(t)
	ended := make(chan error, 1)
	go func() { ended <- informer.Run(ctx) }()
	return func() {
		cancel()
		assert.NoError(t, <-ended)
	}
}
