package peers

import (
	"context"
	"sync"

	"github.com/cilium/statedb"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/cache"
)

// batchSize is how many changes a transaction has at most, as in Cilium.
const batchSize = 10_000

// reflection writes the reports of a Reflector to a table, as Cilium does, which has the code
// for it outside of statedb (DefaultBufferSize and RegisterReflector in its pkg/k8s/statedb.go):
// changes go through a channel to a goroutine that writes many of them in one transaction. But
// it does not wait for up to 50 ms for a transaction to become larger. That would be most of the
// time that is measured, as no more than a few thousand events are in flight.
type reflection struct {
	*podTable
	reports     chan report
	initialized func(statedb.WriteTxn)
}

// report is a change, or a list that replaces all Pods.
type report struct {
	pod     *corev1.Pod
	deleted bool
	list    []any // not nil
}

var _ cache.ReflectorStore = (*reflection)(nil)

func newReflection(table *podTable) *reflection {
	r := &reflection{podTable: table, reports: make(chan report, batchSize)}
	txn := table.WriteTxn(table)
	r.initialized = table.RegisterInitializer(txn, "reflector")
	txn.Commit()
	return r
}

// run lists and watches, and writes, until ctx ends.
func (r *reflection) run(ctx context.Context, from cache.ListerWatcher) {
	reflector := cache.NewReflector(from, nil, r, 0)
	var writing sync.WaitGroup
	writing.Go(r.write)
	reflector.RunWithContext(ctx)
	close(r.reports)
	writing.Wait()
}

// write makes a transaction of all that has been reported since the last one.
func (r *reflection) write() {
	for next := range r.reports {
		txn := r.WriteTxn(r)
		r.apply(txn, next)
		for range min(len(r.reports), batchSize-1) {
			r.apply(txn, <-r.reports)
		}
		txn.Commit()
	}
}

// apply panics if the table is not that of txn, as nothing else can fail.
func (r *reflection) apply(txn statedb.WriteTxn, next report) {
	var err error
	switch {
	case next.list != nil:
		for _, pod := range next.list {
			if _, _, err = r.Insert(txn, pod.(*corev1.Pod)); err != nil {
				panic(err)
			}
		}
		r.initialized(txn)
	case next.deleted:
		_, _, err = r.RWTable.Delete(txn, next.pod)
	default:
		_, _, err = r.Insert(txn, next.pod)
	}
	if err != nil {
		panic(err)
	}
}

// Add implements cache.ReflectorStore, as do the others.
func (r *reflection) Add(obj any) error { return r.Update(obj) }

func (r *reflection) Update(obj any) error {
	r.reports <- report{pod: obj.(*corev1.Pod)}
	return nil
}

func (r *reflection) Delete(obj any) error {
	r.reports <- report{pod: obj.(*corev1.Pod), deleted: true}
	return nil
}

// Replace is called once here, when the table is empty.
func (r *reflection) Replace(list []any, _ string) error {
	r.reports <- report{list: list}
	return nil
}

func (r *reflection) Resync() error { return nil }
