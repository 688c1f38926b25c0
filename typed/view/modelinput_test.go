package view_test

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strconv"
	"sync"

	"github.com/kubetyped/informer/index"
	"github.com/kubetyped/informer/internal/test/sinktest"
	"github.com/kubetyped/informer/typed"
	"github.com/kubetyped/informer/typed/source"
	"github.com/kubetyped/informer/typed/view"
)

// modelInput is an input of the model: a Set, or an informer, whose source it is.
type modelInput struct {
	name     string
	set      *view.Set[*thing]       // nil: an informer
	informer *typed.Informer[*thing] // nil: a Set
	begun    chan source.Sink[*thing]
	sink     source.Sink[*thing]
	bad      bool // some objects are

	mu      sync.Mutex
	now     map[index.Key]*thing // guarded by mu
	version int                  // guarded by mu
	history map[string]things    // guarded by mu; by version
}

func newModelInput(n int, bad bool) *modelInput {
	in := &modelInput{bad: bad, now: map[index.Key]*thing{}, history: map[string]things{}}
	if n == 0 {
		in.set = view.NewSet[*thing]()
		in.name, in.version = in.set.Name(), 1 // of putting nothing
		in.note()
		return in
	}
	in.name, in.begun = fmt.Sprint("in", n), make(chan source.Sink[*thing], 1)
	in.informer = typed.NewInformer[*thing](in, typed.WithName(in.name))
	return in
}

func (in *modelInput) view() *view.View[*thing] {
	if in.set != nil {
		return in.set.View()
	}
	return view.Of(in.informer)
}

// Run implements source.Source.
func (in *modelInput) Run(ctx context.Context, sink source.Sink[*thing]) error {
	in.begun <- sink
	<-ctx.Done()
	return nil
}

// note notes a state. The caller holds mu, except for the first one.
func (in *modelInput) note() string {
	version := strconv.Itoa(in.version)
	in.history[version] = inOrder(maps.Values(in.now))
	return version
}

// at returns the objects at a version.
func (in *modelInput) at(version string) (things, bool) {
	in.mu.Lock()
	defer in.mu.Unlock()
	all, ok := in.history[version]
	return all, ok
}

// latest returns the version, and the objects.
func (in *modelInput) latest() (string, things) {
	in.mu.Lock()
	defer in.mu.Unlock()
	return strconv.Itoa(in.version), inOrder(maps.Values(in.now))
}

func (in *modelInput) object(random *rand.Rand) *thing {
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
	return &thing{
		[]string{"", "a", "b"}[random.IntN(3)], fmt.Sprint("n", random.IntN(9)), some(), some(), random.IntN(30), "", in.bad && random.IntN(5) == 0,
	}
}

// begin delivers the initial list of an informer.
func (in *modelInput) begin(random *rand.Rand) {
	if in.informer == nil {
		return
	}
	in.sink = <-in.begun
	in.mu.Lock()
	defer in.mu.Unlock()
	for range random.IntN(6) {
		obj := in.object(random)
		in.now[index.KeyOf(obj)] = obj
	}
	in.version++
	version := in.note()
	sinktest.Replace(in.sink, "", slices.Collect(maps.Values(in.now)), version)
}

// heal makes all objects good.
func (in *modelInput) heal() {
	in.mu.Lock()
	defer in.mu.Unlock()
	var good []*thing
	for key, obj := range in.now {
		if obj.bad {
			healed := *obj
			healed.bad = false
			in.now[key] = &healed
			good = append(good, &healed)
		}
	}
	if len(good) > 0 {
		in.put(good, 0)
	}
}

// put adds objects together. The caller holds mu, and has changed now.
func (in *modelInput) put(objs []*thing, reason index.Reason) {
	in.version++
	version := in.note()
	if in.set != nil {
		in.set.Put(objs...)
		return
	}
	changes := make([]index.Change[*thing], len(objs))
	for i, obj := range objs {
		changes[i] = index.Change[*thing]{Object: obj, Reason: reason}
	}
	in.sink.Step(changes, version, nil)
}

// write changes some objects at random, and returns the reason.
func (in *modelInput) write(random *rand.Rand) index.Reason {
	in.mu.Lock()
	defer in.mu.Unlock()
	drawn := map[index.Key]*thing{}
	for range 1 + random.IntN(3) {
		obj := in.object(random)
		drawn[index.KeyOf(obj)] = obj
	}
	if in.set != nil {
		in.writeSet(random, drawn)
		return index.Watched
	}
	switch random.IntN(8) {
	case 0:
		return in.deleteOne(random, drawn)
	case 1:
		return in.relist(random, drawn)
	case 2:
		in.listNamespace("a", drawn)
		return index.Relisted
	case 3:
		return in.release(random)
	case 4:
		maps.Copy(in.now, drawn)
		in.version++
		in.sink.Replace(source.List{Part: true, Items: source.StageAll(in.sink, slices.Collect(maps.Values(drawn))), Reason: index.Acquired}, in.note())
		return index.Acquired
	case 5:
		in.version++
		in.sink.Step(nil, in.note(), nil)
	case 6:
		for key, obj := range drawn { // one by one
			in.now[key] = obj
			in.version++
			in.sink.Change(index.Change[*thing]{Object: obj}, in.note())
		}
	default:
		maps.Copy(in.now, drawn)
		in.put(slices.Collect(maps.Values(drawn)), index.Watched)
	}
	return index.Watched
}

func (in *modelInput) writeSet(random *rand.Rand, drawn map[index.Key]*thing) {
	switch random.IntN(6) {
	case 0:
		in.now = drawn
		in.version++
		in.note()
		in.set.Replace(slices.Collect(maps.Values(drawn))...)
	case 1:
		for key := range drawn {
			delete(in.now, key)
		}
		in.version++
		in.note()
		in.set.Delete(slices.Collect(maps.Keys(drawn))...)
	default:
		maps.Copy(in.now, drawn)
		in.put(slices.Collect(maps.Values(drawn)), 0)
	}
}

// deleteOne deletes an object that may exist, by its key or in its last state.
func (in *modelInput) deleteOne(random *rand.Rand, drawn map[index.Key]*thing) index.Reason {
	reason := []index.Reason{index.Watched, index.Released, index.OutOfScope}[random.IntN(3)]
	for key, obj := range drawn {
		delete(in.now, key)
		in.version++
		c := index.Change[*thing]{Delete: true, Key: &key, Reason: reason}
		if random.IntN(2) == 0 {
			c.Key, c.Object = nil, obj
		}
		in.sink.Change(c, in.note())
	}
	return reason
}

// relist delivers a list of everything, of which one object may be rejected, and stays.
func (in *modelInput) relist(random *rand.Rand, drawn map[index.Key]*thing) index.Reason {
	items := source.StageAll(in.sink, slices.Collect(maps.Values(drawn)))
	for key, obj := range in.now {
		if drawn[key] == nil && random.IntN(3) == 0 {
			drawn[key] = obj
			in.sink.Report(&source.RejectedError{Key: key, Listed: true, Err: errBroken})
			items = append(items, source.Reject(key))
			break
		}
	}
	in.now = drawn
	in.version++
	in.sink.Replace(source.List{Items: items}, in.note())
	return index.Relisted
}

func (in *modelInput) listNamespace(namespace string, drawn map[index.Key]*thing) {
	var all []*thing
	for key := range in.now {
		if key.Namespace == namespace {
			delete(in.now, key)
		}
	}
	for key, obj := range drawn {
		if key.Namespace == namespace {
			in.now[key] = obj
			all = append(all, obj)
		}
	}
	in.version++
	sinktest.Replace(in.sink, namespace, all, in.note())
}

// release has some objects be another process's, or a namespace leave.
func (in *modelInput) release(random *rand.Rand) index.Reason {
	var gone []index.Key
	leaves := random.IntN(3) == 0
	for key := range in.now {
		if leaves && key.Namespace == "b" || !leaves && random.IntN(3) == 0 {
			gone = append(gone, key)
		}
	}
	for _, key := range gone {
		delete(in.now, key)
	}
	in.version++
	if leaves {
		in.sink.Replace(source.List{Namespace: "b", Reason: index.Released}, in.note())
	} else {
		in.sink.Replace(source.List{Part: true, Gone: gone, Reason: index.Released}, in.note())
	}
	return index.Released
}
