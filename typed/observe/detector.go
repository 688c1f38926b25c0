package observe

import (
	"context"
	"reflect"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/kubetyped/informer/index"
	"github.com/kubetyped/informer/internal/goroutine"
	"github.com/kubetyped/informer/internal/monitor"
	"github.com/kubetyped/informer/internal/mutation"
	"github.com/kubetyped/informer/internal/observer"
)

const (
	// maxFields is how many fields of an object are reported.
	maxFields = 16

	// spareRecords is how many objects that have left the store may be on record,
	// in addition to as many as there are in the store, before they are looked at.
	spareRecords = 1024
)

// detector finds objects of an informer that were modified. The informer's loop calls record
// and settle, and a separate goroutine calls run.
type detector struct {
	*detection
	informer observer.Observed
	recorder mutation.Recorder
	crowded  chan struct{} // gets something when there are many records

	mu      sync.Mutex
	records map[any]*record // guarded by mu; by objects

	unsettled []*record             // owned by the loop
	settled   func()                // settle, made once
	reported  map[identity]struct{} // owned by run; of objects that are in the store
}

// identity distinguishes objects that had the same key one after the other, if they have UIDs.
type identity struct {
	index.Key
	uid types.UID
}

// record is what an object was when it came.
type record struct {
	identity
	version string
	content []byte
	settled bool // guarded by detector.mu; the object is in the store, or will not be
}

func newDetector(o observer.Observed, of *detection) *detector {
	d := &detector{
		detection: of,
		informer:  o,
		crowded:   make(chan struct{}, 1),
		records:   map[any]*record{},
		reported:  map[identity]struct{}{},
	}
	d.settled = d.settle
	return d
}

// storing puts the objects of a write on record.
func (d *detector) storing(w *observer.Write) (settled func()) {
	for key, obj := range w.Objects {
		d.record(key, obj)
	}
	return d.settled
}

// record puts an object on record that is about to be stored. One that is on record
// stays as it is there.
func (d *detector) record(key index.Key, obj observer.Object) {
	if !reflect.ValueOf(obj).Comparable() {
		return // it is a value, which no other code can modify
	}
	d.mu.Lock()
	_, known := d.records[obj]
	d.mu.Unlock()
	if known {
		return
	}
	r := &record{identity: identity{key, uidOf(obj)}, content: d.recorder.Record(obj)}
	if v, ok := obj.(interface{ GetResourceVersion() string }); ok {
		r.version = v.GetResourceVersion()
	}
	d.unsettled = append(d.unsettled, r)
	d.mu.Lock()
	d.records[obj] = r
	d.mu.Unlock()
}

// settle marks the objects on record as stored, as far as they will be.
func (d *detector) settle() {
	d.mu.Lock()
	for _, r := range d.unsettled {
		r.settled = true
	}
	many := len(d.records)
	d.mu.Unlock()
	clear(d.unsettled)
	d.unsettled = d.unsettled[:0]
	if many > 2*d.informer.Len()+spareRecords {
		monitor.Wake(d.crowded)
	}
}

// run compares objects until ctx ends: all of them each time the period has passed,
// and those that have left the store when there are many.
func (d *detector) run(ctx context.Context) {
	ticker := time.NewTicker(d.period)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-d.crowded:
			goroutine.CallSafely(func() { d.compare(ctx, false) })
		case <-ticker.C:
			goroutine.CallSafely(func() { d.compare(ctx, true) })
		}
	}
}

// compare compares the objects on record, or only those that have left the store,
// and forgets the latter.
func (d *detector) compare(ctx context.Context, all bool) {
	var gone []identity
	for obj, r := range d.allSettled() {
		if ctx.Err() != nil {
			return
		}
		now, exists := d.informer.Object(r.Key)
		left := !exists || any(now) != obj
		if !left && !all {
			continue
		}
		d.check(obj, r)
		if left {
			d.mu.Lock()
			delete(d.records, obj)
			d.mu.Unlock()
		}
		if !exists || left && uidOf(now) != r.uid {
			gone = append(gone, r.identity)
		}
	}
	for _, of := range gone {
		delete(d.reported, of)
	}
}

func uidOf(obj observer.Object) types.UID {
	if u, ok := obj.(interface{ GetUID() types.UID }); ok {
		return u.GetUID()
	}
	return ""
}

// forget drops all records, as the informer was released.
func (d *detector) forget() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.records = map[any]*record{}
}

// allSettled returns the records of objects that were stored.
func (d *detector) allSettled() map[any]*record {
	d.mu.Lock()
	defer d.mu.Unlock()
	settled := make(map[any]*record, len(d.records))
	for obj, r := range d.records {
		if r.settled {
			settled[obj] = r
		}
	}
	return settled
}

// check reports what was modified in an object, unless it was reported before.
func (d *detector) check(obj any, r *record) {
	if _, known := d.reported[r.identity]; known {
		return
	}
	changes := d.recorder.Compare(r.content, obj, maxFields)
	if len(changes) == 0 {
		return
	}
	d.reported[r.identity] = struct{}{}
	m := Mutation{Informer: d.informer.Name(), Key: r.Key, ResourceVersion: r.version}
	for _, c := range changes {
		m.Fields = append(m.Fields, ModifiedField(c))
	}
	goroutine.CallSafely(func() { d.report(m) })
}
