package shard

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"
	"k8s.io/apimachinery/pkg/util/resourceversion"
	"k8s.io/apimachinery/pkg/util/sets"

	"github.com/kubetyped/informer/index"
	"github.com/kubetyped/informer/internal/goroutine"
	"github.com/kubetyped/informer/internal/monitor"
	"github.com/kubetyped/informer/typed/source"
)

const (
	mostParts = 4               // watches, before one replaces them all
	mostLists = 2               // that run at a time; ranges that come meanwhile wait
	settled   = 5 * time.Second // without changes, before watches of too much are replaced
)

// parts are the lists and watches of one informer, each of some ranges. The lock is held
// through each report of objects, so that the version which comes with it is reached by it
// and all before it; errors are queued under it, and reported when it is free.
type parts[T index.Object] struct {
	*Source[T]
	sink     source.Sink[T]
	follower *follower

	lock    monitor.LongLock       // guards all below
	running []*part[T]             // by age
	owner   [rangeCount]*part[T]   // whose reports count for a range; nil: not kept
	since   [rangeCount]uint64     // of those that are kept, see Group
	loaded  ranges                 // whose objects the sink has
	places  map[index.Key]place[T] // of the objects that the sink has
	synced  bool                   // the first list was reported
	ended   bool
	version string // that was reported last
	reports monitor.Reports

	// placing is held, too, while a place, an owner or a version changes. Code that looks one
	// up takes only this lock, and so does not wait for the informer.
	placing sync.Mutex
}

// place is where an object came from.
type place[T index.Object] struct {
	part    *part[T]
	version uint64 // at which it was reported, 0 if it is not known
	object  uint64 // its own, 0 if it is not known
	r       uint8
}

func newParts[T index.Object](s *Source[T], sink source.Sink[T]) *parts[T] {
	return &parts[T]{Source: s, sink: sink, lock: monitor.NewLongLock(), places: map[index.Key]place[T]{}}
}

// run follows which ranges the member has.
func (p *parts[T]) run(ctx context.Context) error {
	var leave func()
	p.follower, leave = p.group.follow()
	defer leave()
	p.mu.Lock()
	p.placeOf, p.at = p.rangeOfPlace, p.versionOf
	p.mu.Unlock()
	group, ctx := errgroup.WithContext(ctx)
	waiting := time.NewTicker(settled)
	defer waiting.Stop()
	changed := time.Now()
	for {
		for _, added := range p.follow(ctx, time.Since(changed) >= settled) {
			group.Go(func() error { return goroutine.Contain(ctx, "the source that is shared", added.run) })
		}
		p.report()
		select {
		case <-p.follower.changed:
			changed = time.Now()
		case <-waiting.C:
		case <-ctx.Done():
			p.lock.Lock()
			p.ended = true
			p.lock.Unlock()
			return group.Wait()
		}
	}
}

// rangeOfPlace returns the range of an object that the sink has.
func (p *parts[T]) rangeOfPlace(key index.Key) (uint8, bool) {
	p.placing.Lock()
	defer p.placing.Unlock()
	at, ok := p.places[key]
	return at.r, ok
}

// versionOf returns the version up to which all was reported of a range.
func (p *parts[T]) versionOf(r uint8) string {
	p.placing.Lock()
	defer p.placing.Unlock()
	if owner := p.owner[r]; owner != nil {
		return owner.reported
	}
	return ""
}

// setOwner notes whose reports count for a range. The caller holds lock.
func (p *parts[T]) setOwner(r uint8, q *part[T]) {
	p.placing.Lock()
	defer p.placing.Unlock()
	p.owner[r] = q
}

// setPlace notes where an object is from. The caller holds lock.
func (p *parts[T]) setPlace(key index.Key, at place[T]) {
	p.placing.Lock()
	defer p.placing.Unlock()
	p.places[key] = at
}

// forgetPlace notes that an object is gone. The caller holds lock.
func (p *parts[T]) forgetPlace(key index.Key) {
	p.placing.Lock()
	defer p.placing.Unlock()
	delete(p.places, key)
}

// follow releases the ranges that the member no longer has, and returns the parts to run for
// those that it has now. Rest is true if nothing has changed for some time.
func (p *parts[T]) follow(ctx context.Context, rest bool) (added []*part[T]) {
	kept, since := p.follower.share()
	p.lock.Lock()
	defer p.lock.Unlock()
	p.release(kept, since)
	var gained ranges
	for r := range kept.all() {
		if p.owner[r] == nil {
			gained.add(r)
		}
	}
	p.since = since
	if !p.synced && kept.empty() {
		p.reports.Add(&source.WaitingError{For: "the ranges of " + p.group.Name(), Err: p.group.waiting()})
	}
	asksServer := p.asks.Load() && !p.isUnselected()
	asked := 0
	for _, q := range p.running {
		asked += q.asked.count()
	}
	switch full := len(p.running) >= mostParts || len(p.running) > 0 && !asksServer; {
	case p.listing() >= mostLists || len(p.running) > mostParts: // the next to be listed calls for more
	case !gained.empty() && full:
		added = append(added, p.add(ctx, kept, gained))
	case !gained.empty():
		added = append(added, p.add(ctx, gained, gained))
	case rest && asksServer && p.listed() && 2*asked > 3*kept.count() && !kept.empty(),
		rest && !asksServer && p.listed() && len(p.running) > 1: // each gets everything
		added = append(added, p.add(ctx, kept, gained)) // the server sends too much
	}
	return added
}

// isUnselected reports whether the server sends what was not asked for, by one of the watches
// that there are: its feature may be turned off and on. The caller holds lock.
func (p *parts[T]) isUnselected() bool {
	is := slices.ContainsFunc(p.running, func(q *part[T]) bool { return q.unasked.Load() })
	p.unselected.Store(is)
	return is
}

// listed reports whether all parts have been listed. The caller holds lock.
func (p *parts[T]) listed() bool { return p.listing() == 0 }

// listing returns how many parts have not been listed yet. The caller holds lock.
func (p *parts[T]) listing() (n int) {
	for _, q := range p.running {
		if !q.listed {
			n++
		}
	}
	return n
}

// add returns a new part that asks for some ranges, and owns those that it gained. When it is
// listed, it takes the others from their owners. The caller holds lock.
func (p *parts[T]) add(ctx context.Context, asked, gained ranges) *part[T] {
	q := &part[T]{parts: p, asked: asked, rejected: sets.New[index.Key]()}
	q.ctx, q.cancel = context.WithCancel(ctx)
	p.running = append(p.running, q)
	for r := range gained.all() {
		p.setOwner(r, q)
	}
	return q
}

// release gives up the ranges that are no longer kept, or were taken again since. The caller
// holds lock.
func (p *parts[T]) release(kept ranges, since [rangeCount]uint64) {
	var lost ranges
	for r := range p.owner {
		if p.owner[r] != nil && (!kept.has(uint8(r)) || since[r] != p.since[r]) {
			p.setOwner(uint8(r), nil)
			lost.add(uint8(r))
		}
	}
	if lost.empty() {
		return
	}
	gone := []index.Key{}
	for key, at := range p.places {
		if lost.has(at.r) {
			gone = append(gone, key)
			p.forgetPlace(key)
		}
	}
	p.loaded = p.loaded.minus(lost)
	p.prune()
	if p.synced && len(gone) > 0 {
		p.sink.Replace(source.List{Part: true, Gone: gone, Reason: index.Released}, p.advance())
	}
}

// prune ends the parts that have nothing any more. The caller holds lock.
func (p *parts[T]) prune() {
	p.running = slices.DeleteFunc(p.running, func(q *part[T]) bool {
		if slices.Contains(p.owner[:], q) {
			return false
		}
		q.cancel()
		q.removed = true
		q.repairBut(nil, func(index.Key) bool { return true })
		if q.err != nil {
			q.err = nil
			p.reports.Add(p.trouble())
		}
		return true
	})
}

// advance returns the version that all parts have reached, "" if it is the one that was
// reported last, or not known. The caller holds lock.
func (p *parts[T]) advance() string {
	lowest := ""
	for _, q := range p.running {
		if q.finished {
			continue
		}
		if !q.listed || q.version == "" {
			return ""
		}
		if at := q.at(); lowest == "" || older(at, lowest) {
			lowest = at
		}
	}
	if lowest == p.version {
		return ""
	}
	p.version = lowest
	return lowest
}

// older reports whether a version is known to be before another one.
func older(a, b string) bool {
	order, err := resourceversion.CompareResourceVersion(a, b)
	return err == nil && order < 0
}

// number returns a version as a number, 0 if it is none.
func number(version string) uint64 {
	n, _ := strconv.ParseUint(version, 10, 64)
	return n
}

// trouble returns the failures that last, nil if there are none. The caller holds lock.
func (p *parts[T]) trouble() error {
	var errs []error
	for _, q := range p.running {
		errs = append(errs, q.err)
	}
	return errors.Join(errs...)
}

// report passes queued reports to the sink, in their order, while the lock is free.
func (p *parts[T]) report() { p.reports.Make(p.lock, p.sink.Report) }
