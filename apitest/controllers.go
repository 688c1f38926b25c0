package apitest

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubetyped/informer/apitest/internal/store"
)

// again is how long a controller of the server waits before it repeats failed work.
const again = time.Second

// controller does in the server what a controller of a cluster does outside of it.
type controller interface {
	// observe is called for every write, in order.
	observe(ctx context.Context, w written)
	// retry repeats failed work, and reports whether some is left.
	retry(ctx context.Context) bool
}

// place is where an object is.
type place struct {
	collection *collection
	key        string
}

// written is a write as controllers see it. Objects are shared.
type written struct {
	place
	before, now runtime.Object // nil: it did not exist, it exists no more
}

// controllers run controllers, which follow the writes to a store, one write after the other,
// in one goroutine.
type controllers struct {
	all         []controller
	log         *store.Log
	collections map[*store.Table]*collection
	known       map[place]runtime.Object // owned by run
	cancel      context.CancelFunc
	ended       chan struct{}
}

// newControllers returns controllers that observe the writes from now on.
func newControllers(s *store.Store, c *catalog, all []controller) *controllers {
	cs := &controllers{
		all: all, log: s.Log(), known: map[place]runtime.Object{},
		collections: map[*store.Table]*collection{}, ended: make(chan struct{}),
	}
	for _, served := range c.byResource {
		cs.collections[served.table] = served.storage()
	}
	return cs
}

// start runs the controllers until stop.
func (cs *controllers) start(ctx context.Context) {
	ctx, cs.cancel = context.WithCancel(ctx)
	go func() {
		defer close(cs.ended)
		cs.run(ctx)
	}()
}

// stop waits for the controllers to end.
func (cs *controllers) stop() {
	cs.cancel()
	<-cs.ended
}

func (cs *controllers) run(ctx context.Context) {
	var timer <-chan time.Time
	for {
		writes, changed := cs.next()
		for _, w := range writes {
			if ctx.Err() != nil {
				return
			}
			for _, c := range cs.all {
				c.observe(ctx, w)
			}
		}
		if changed == nil {
			continue
		}
		if timer == nil && cs.retry(ctx) {
			timer = time.After(again)
		}
		select {
		case <-ctx.Done():
			return
		case <-changed:
		case <-timer:
			timer = nil
		}
	}
}

func (cs *controllers) retry(ctx context.Context) bool {
	left := false
	for _, c := range cs.all {
		left = c.retry(ctx) || left
	}
	return left
}

// next returns further writes, or else a channel that announces them.
func (cs *controllers) next() ([]written, <-chan struct{}) {
	entries, changed, err := cs.log.Next()
	if err != nil {
		return cs.relist(), nil
	}
	var writes []written
	for _, e := range entries {
		writes = append(writes, cs.note(e)...)
	}
	return writes, changed
}

// note keeps a state, and returns the writes that lead to it from the one before.
func (cs *controllers) note(e store.Entry) []written {
	c := cs.collections[e.Table]
	at := place{c, c.keyOf(e.Current.Object)}
	before := cs.known[at]
	if e.Current.Deleted {
		delete(cs.known, at)
		return []written{{place: at, before: before}}
	}
	cs.known[at] = e.Current.Object
	if before != nil && uidOf(before) != uidOf(e.Current.Object) {
		return []written{{place: at, before: before}, {place: at, now: e.Current.Object}}
	}
	return []written{{place: at, before: before, now: e.Current.Object}}
}

// relist returns the writes that lead from the known state to the present one, when the log has
// forgotten the actual ones.
func (cs *controllers) relist() []written {
	entries := cs.log.Restart()
	gone := maps.Clone(cs.known)
	var writes []written
	for _, e := range entries {
		c := cs.collections[e.Table]
		delete(gone, place{c, c.keyOf(e.Current.Object)})
	}
	for at, obj := range gone {
		delete(cs.known, at)
		writes = append(writes, written{place: at, before: obj})
	}
	slices.SortFunc(writes, func(a, b written) int {
		return cmp.Or(cmp.Compare(a.collection.resource.String(), b.collection.resource.String()), cmp.Compare(a.key, b.key))
	})
	for _, e := range entries {
		writes = append(writes, cs.note(e)...)
	}
	return writes
}

func uidOf(obj runtime.Object) types.UID {
	m, err := meta.Accessor(obj)
	if err != nil {
		return ""
	}
	return m.GetUID()
}
