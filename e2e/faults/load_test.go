package faults

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/util/flowcontrol"

	"github.com/kubetyped/informer/apitest/history"
	"github.com/kubetyped/informer/index"
)

// writers is how many goroutines write, each its own objects.
const writers = 4

// load writes objects all the time and notes what became of each write, also of
// those whose answer got lost.
type load[T history.Object] struct {
	ctx     context.Context
	objs    objects[T]
	pace    flowcontrol.RateLimiter
	start   chan struct{} // closed when all observers watch
	stop    chan struct{}
	running sync.WaitGroup

	mu     sync.Mutex
	writes map[index.Key][]history.Write // guarded by mu
	total  int                           // guarded by mu
}

// newLoad returns a load of perSecond writes, which has not begun.
func newLoad[T history.Object](ctx context.Context, objs objects[T], perSecond float32) *load[T] {
	return &load[T]{
		ctx: ctx, objs: objs,
		pace:   flowcontrol.NewTokenBucketRateLimiter(perSecond, writers),
		start:  make(chan struct{}),
		stop:   make(chan struct{}),
		writes: map[index.Key][]history.Write{},
	}
}

// begin creates n objects, and returns once they are there; from the closing of
// start until end they are written, in a pattern that seed decides.
func (l *load[T]) begin(t *testing.T, n int, seed uint64) {
	ready := make(chan struct{}, writers)
	for w := range writers {
		l.running.Go(func() {
			own := map[string]*T{} // nil: not there
			for i := w; i < n; i += writers {
				own[fmt.Sprintf("object-%d", i)] = nil
			}
			for name := range own {
				own[name] = l.create(t, name)
			}
			ready <- struct{}{}
			select {
			case <-l.start:
			case <-l.stop:
			}
			l.write(t, own, rand.New(rand.NewPCG(seed, uint64(w))))
		})
	}
	for range writers {
		<-ready
	}
}

// end stops the writing, and returns when all writes are known.
func (l *load[T]) end() {
	select {
	case <-l.stop:
	default:
		close(l.stop)
	}
	l.running.Wait()
}

func (l *load[T]) write(t *testing.T, own map[string]*T, random *rand.Rand) {
	names := make([]string, 0, len(own))
	for name := range own {
		names = append(names, name)
	}
	for n := 0; l.pace.Wait(l.ctx) == nil; n++ {
		select {
		case <-l.stop:
			return
		default:
		}
		name := names[random.IntN(len(names))]
		switch obj := own[name]; {
		case obj == nil:
			own[name] = l.create(t, name)
		case random.IntN(10) == 0:
			own[name] = l.remove(t, name, obj)
		default:
			own[name] = l.update(t, name, obj, fmt.Sprint("content ", n))
		}
	}
}

func (l *load[T]) create(t *testing.T, name string) *T {
	obj, err := l.objs.create(l.ctx, name)
	if err != nil {
		return l.resolve(t, name, nil)
	}
	l.note(obj, false)
	return &obj
}

func (l *load[T]) update(t *testing.T, name string, old *T, content string) *T {
	obj, err := l.objs.update(l.ctx, *old, content)
	if err != nil {
		return l.resolve(t, name, old)
	}
	l.note(obj, false)
	return &obj
}

func (l *load[T]) remove(t *testing.T, name string, old *T) *T {
	if err := l.objs.remove(l.ctx, name); err != nil {
		return l.resolve(t, name, old)
	}
	l.note(*old, true)
	return nil
}

// resolve finds out what became of a write that has failed, or whose answer has
// not come: the server says, as soon as it answers.
func (l *load[T]) resolve(t *testing.T, name string, old *T) *T {
	for {
		obj, err := l.objs.get(l.ctx, name)
		switch {
		case err == nil:
			if old == nil || (*old).GetResourceVersion() != obj.GetResourceVersion() {
				l.note(obj, false)
			}
			return &obj
		case apierrors.IsNotFound(err):
			if old != nil {
				l.note(*old, true)
			}
			return nil
		case l.ctx.Err() != nil:
			assert.NoError(t, err, "the server does not answer any more")
			return nil
		}
		if l.pace.Wait(l.ctx) != nil {
			return nil
		}
	}
}

func (l *load[T]) note(obj T, deleted bool) {
	w := history.Write{Delete: deleted}
	if !deleted {
		w.Version = obj.GetResourceVersion()
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	key := index.KeyOf(obj)
	l.writes[key] = append(l.writes[key], w)
	l.total++
}

// done returns the number of writes so far.
func (l *load[T]) done() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.total
}

// lost returns the writes that are missing in h.
func (l *load[T]) lost(h *history.History[T]) []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	var lost []string
	for key, writes := range l.writes {
		lost = append(lost, h.Lost(key, writes)...)
	}
	return lost
}
