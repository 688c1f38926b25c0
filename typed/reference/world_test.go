package reference_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strconv"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubetyped/informer/index"
	"github.com/kubetyped/informer/internal/test/rig"
	"github.com/kubetyped/informer/typed/source"
)

// world is two API servers with one store, and their faults.
type world struct {
	mu        sync.Mutex
	random    *rand.Rand
	version   int
	past      map[index.Key][]written // in the order of versions
	lags      [2]int                  // the version at which a server's cache stands still; 0: it does not
	since     [2]time.Time            // when that began
	to        int                     // the server that requests go to
	forbidden map[index.Key]bool
	unable    map[index.Key]bool // no answers but 500
	cuts      map[index.Key]int  // how often watches were cut
	gone      map[index.Key]bool // the next watch gets 410
	deaf      bool               // sources do not know of floors, as other code's
	running   map[index.Key]int  // sources that run
	restored  time.Time          // when the store was last restored from a backup
}

// written is one state of an object.
type written struct {
	version int
	object  *rig.Thing // nil: it is gone
}

func newWorld(random *rand.Rand) *world {
	return &world{
		random: random, version: 10, past: map[index.Key][]written{}, forbidden: map[index.Key]bool{}, unable: map[index.Key]bool{},
		cuts: map[index.Key]int{}, gone: map[index.Key]bool{}, running: map[index.Key]int{}, deaf: random.IntN(3) == 0,
	}
}

// write makes an object exist in another state, or not.
func (w *world) write(key index.Key, exists bool) {
	w.version += 1 + w.random.IntN(3)
	var obj *rig.Thing
	if exists {
		obj = rig.At(key.Name, w.version)
	}
	w.past[key] = append(w.past[key], written{w.version, obj})
}

// at returns the object of a key as of a version, nil if there was none.
func (w *world) at(key index.Key, version int) (obj *rig.Thing) {
	for _, s := range w.past[key] {
		if s.version <= version {
			obj = s.object
		}
	}
	return obj
}

// existed reports whether there was an object at each version between two.
func (w *world) existed(key index.Key, from, to int) bool {
	if w.at(key, from) == nil {
		return false
	}
	for _, s := range w.past[key] {
		if s.version > from && s.version <= to && s.object == nil {
			return false
		}
	}
	return true
}

// view returns the version of a server's cache. Sources that do not know of floors take it for
// another history if it stands still for too long.
func (w *world) view(server int) int {
	if at := w.lags[server]; at != 0 && !(w.deaf && time.Since(w.since[server]) > 20*time.Second) {
		return min(at, w.version)
	}
	return w.version
}

// restore takes the store back to an earlier version.
func (w *world) restore(to int) {
	w.version, w.lags, w.restored = to, [2]int{}, time.Now()
	for key, states := range w.past {
		for len(states) > 0 && states[len(states)-1].version > to {
			states = states[:len(states)-1]
		}
		w.past[key] = states
	}
	for key := range w.running {
		w.cuts[key]++
		w.gone[key] = true
	}
}

// follow is the source of one key.
type follow struct {
	*world
	key index.Key
}

// refuse returns what a request is answered, nil if it is served.
func (f *follow) refuse() error {
	switch {
	case f.forbidden[f.key]:
		return apierrors.NewForbidden(schema.GroupResource{Resource: "things"}, f.key.Name, errors.New("no"))
	case f.unable[f.key]:
		return apierrors.NewInternalError(errors.New("no"))
	}
	return nil
}

// Run implements source.Source.
func (f *follow) Run(ctx context.Context, sink source.Sink[*rig.Thing]) error {
	f.mu.Lock()
	f.running[f.key]++
	f.mu.Unlock()
	defer func() {
		f.mu.Lock()
		defer f.mu.Unlock()
		f.running[f.key]--
	}()
	at := 0
	for ctx.Err() == nil {
		sleep(ctx, 100*time.Millisecond)
		var ok bool
		if at, ok = f.list(ctx, sink, at); !ok {
			sleep(ctx, time.Second)
			continue
		}
		for again := true; again && ctx.Err() == nil; {
			at, again = f.watch(ctx, sink, at)
		}
	}
	return nil
}

// list reports a list that is not older than a version.
func (f *follow) list(ctx context.Context, sink source.Sink[*rig.Thing], least int) (at int, ok bool) {
	f.mu.Lock()
	err := f.refuse()
	floor, _ := strconv.Atoi(source.FloorOf(ctx))
	if f.deaf {
		floor = 0
	}
	at = f.view(f.to)
	if err == nil && max(floor, least) > at && (least == 0 || f.version >= least) && (f.version >= floor || time.Since(f.restored) < 40*time.Second) {
		err = apierrors.NewTimeoutError("Too large resource version", 1)
	}
	obj := f.at(f.key, at)
	f.mu.Unlock()
	if ctx.Err() != nil {
		return 0, false
	}
	if err != nil {
		sink.Report(&source.RequestError{Err: err})
		return least, false
	}
	var items []*rig.Thing
	if obj != nil {
		items = append(items, obj)
	}
	sink.Replace(source.List{Items: source.StageAll(sink, items)}, strconv.Itoa(at))
	return at, true
}

// watch reports events until the watch is cut. It reports whether to watch again.
func (f *follow) watch(ctx context.Context, sink source.Sink[*rig.Thing], at int) (int, bool) {
	f.mu.Lock()
	err, cuts, server := f.refuse(), f.cuts[f.key], f.to
	gone := f.gone[f.key]
	delete(f.gone, f.key)
	f.mu.Unlock()
	switch {
	case gone:
		return at, false
	case err != nil:
		sink.Report(&source.RequestError{Watch: true, Err: err})
		sleep(ctx, time.Second)
		return at, true
	}
	sink.Report(nil)
	for ctx.Err() == nil {
		sleep(ctx, 100*time.Millisecond)
		f.mu.Lock()
		cut := f.cuts[f.key] != cuts
		to := f.view(server)
		var events []written
		for _, s := range f.past[f.key] {
			if s.version > at && s.version <= to {
				events = append(events, s)
			}
		}
		last := f.at(f.key, at)
		f.mu.Unlock()
		if cut {
			return at, true
		}
		for _, s := range events {
			if s.object != nil {
				sink.Change(index.Change[*rig.Thing]{Object: s.object}, strconv.Itoa(s.version))
				last = s.object
			} else if last != nil {
				sink.Change(index.Change[*rig.Thing]{Delete: true, Object: last}, strconv.Itoa(s.version))
				last = nil
			}
		}
		if to > at {
			sink.Step(nil, strconv.Itoa(to), nil)
			at = to
		}
	}
	return at, false
}

func sleep(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}

func (w *world) String() string {
	return fmt.Sprintf("at %d, caches at %d and %d", w.version, w.view(0), w.view(1))
}
