package benchmarks

import (
	"fmt"
	"math/bits"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/cache"

	"github.com/kubetyped/informer/index"
)

// BenchmarkReaderWait measures how long a reader waits for an object while the store
// does what takes it longest, with an index by a label:
//
//   - work=grow: all objects come one after the other. This side stores as many at a
//     time as an informer does, 256; client-go's informers store each by itself.
//   - work=relist: a list has the same objects in a later state.
//   - work=replace: a list has other objects, and none of those that are there.
//   - work=empty: a list has no objects.
//   - work=elsewhere: another store of the same side is relisted, and no writer touches the one
//     that is read. Its readers wait for no lock, only for a busy machine, the scheduler and the
//     collector, as in the other cases.
//
// The reader asks for one object after the other without a pause, and the time of
// each call counts: that is before the lock is asked for until after it is released.
//
// A processor that is busy with something else, the scheduler or the collector make a reader
// wait too. To separate these, the reader asks, in turn, a small store of the same side without
// a writer: max-quiet-sec is the longest that it had to wait there, for other reasons than a
// lock. Of max-wait-sec, only the time beyond that is due to the writer.
// TestReadersWaitForSmallSteps of package index bounds the wait on any machine, in copied
// elements.
func BenchmarkReaderWait(b *testing.B) {
	for _, objects := range []int{100_000, 1_000_000} {
		lists := sync.OnceValue(func() waitLists {
			return waitLists{metadataOf("a", objects, 1), metadataOf("a", objects, 2), metadataOf("b", objects, 1)}
		})
		for _, work := range []string{"grow", "relist", "replace", "empty", "elsewhere"} {
			name := fmt.Sprintf("objects=%d/work=%s/impl=", objects, work)
			b.Run(name+"typed", func(b *testing.B) { measureWaits(b, lists(), work, newTypedWaitStore) })
			b.Run(name+"client-go", func(b *testing.B) { measureWaits(b, lists(), work, newClientGoWaitStore) })
		}
	}
}

// waitLists are lists of objects: some, the same in a later state, and others.
type waitLists struct {
	first, later, others []*metav1.PartialObjectMetadata
}

func metadataOf(name string, n, version int) []*metav1.PartialObjectMetadata {
	objs := make([]*metav1.PartialObjectMetadata, n)
	for i := range objs {
		objs[i] = &metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{
			Namespace: fmt.Sprint("namespace-", i%100), Name: fmt.Sprint(name, i), ResourceVersion: fmt.Sprint(version),
			Labels: nodeLabels[i%len(nodeLabels)],
		}}
	}
	return objs
}

// nodeLabels are shared by the objects, to save the memory of a million maps.
var nodeLabels = func() []map[string]string {
	labels := make([]map[string]string, 5000)
	for i := range labels {
		labels[i] = map[string]string{"node": fmt.Sprint("node-", i)}
	}
	return labels
}()

// waitStore is a store of either side.
type waitStore struct {
	get     func(namespace, name string) bool
	add     func(objs []*metav1.PartialObjectMetadata)
	replace func(objs []*metav1.PartialObjectMetadata)
}

func newTypedWaitStore(tb testing.TB) waitStore {
	store := index.NewIndexer[*metav1.PartialObjectMetadata]()
	byNode := index.Single("node", func(o *metav1.PartialObjectMetadata) (string, bool) { return o.Labels["node"], true })
	if err := store.AddIndexes(byNode); err != nil {
		tb.Fatal(err)
	}
	var changes []index.Change[*metav1.PartialObjectMetadata]
	var events []index.Event[*metav1.PartialObjectMetadata]
	return waitStore{
		get: func(namespace, name string) bool {
			_, ok := store.Get(index.Key{Namespace: namespace, Name: name})
			return ok
		},
		add: func(objs []*metav1.PartialObjectMetadata) {
			for some := range slices.Chunk(objs, 256) {
				changes = changes[:0]
				for _, obj := range some {
					changes = append(changes, index.Change[*metav1.PartialObjectMetadata]{Object: obj})
				}
				events = store.Apply(events[:0], changes, "")
			}
		},
		replace: func(objs []*metav1.PartialObjectMetadata) { store.Replace(nil, objs, "2", index.Relisted) },
	}
}

func newClientGoWaitStore(tb testing.TB) waitStore {
	store := cache.NewIndexer(cache.DeletionHandlingMetaNamespaceKeyFunc, cache.Indexers{
		cache.NamespaceIndex: cache.MetaNamespaceIndexFunc, // which this project's store has as well
		"node": func(obj any) ([]string, error) {
			return []string{obj.(*metav1.PartialObjectMetadata).Labels["node"]}, nil
		},
	})
	return waitStore{
		get: func(namespace, name string) bool {
			_, ok, _ := store.GetByKey(namespace + "/" + name)
			return ok
		},
		add: func(objs []*metav1.PartialObjectMetadata) {
			for _, obj := range objs {
				if err := store.Add(obj); err != nil {
					tb.Error(err)
				}
			}
		},
		replace: func(objs []*metav1.PartialObjectMetadata) {
			list := make([]any, len(objs))
			for i, obj := range objs {
				list[i] = obj
			}
			if err := store.Replace(list, "2"); err != nil {
				tb.Error(err)
			}
		},
	}
}

// measureWaits does the work again and again, while a reader reads. The timer runs while it makes stores, too: a
// list without objects takes so little time that there would be no end to it.
func measureWaits(b *testing.B, lists waitLists, work string, newStore func(testing.TB) waitStore) {
	quiet := newStore(b)
	quiet.replace(lists.first[:1000])
	var waits, noise waitTimes
	for b.Loop() {
		store := newStore(b)
		if work != "grow" {
			store.replace(lists.first)
		}
		other := newStore(b)
		if work == "elsewhere" {
			other.replace(lists.first)
		}
		var stop atomic.Bool
		var reading sync.WaitGroup
		begun := make(chan struct{})
		reading.Go(func() {
			for n := 0; !stop.Load(); n++ {
				obj := lists.first[n*7919%len(lists.first)]
				waits.time(func() { store.get(obj.Namespace, obj.Name) })
				noise.time(func() { quiet.get(obj.Namespace, obj.Name) })
				if n == 0 {
					close(begun)
				}
			}
		})
		<-begun
		switch work {
		case "grow":
			store.add(lists.first)
		case "relist":
			store.replace(lists.later)
		case "replace":
			store.replace(lists.others)
		case "empty":
			store.replace(nil)
		case "elsewhere":
			other.replace(lists.later)
		}
		stop.Store(true)
		reading.Wait()
	}
	b.ReportMetric(0, "ns/op") // mostly of making stores
	b.ReportMetric(waits.quantile(0.5), "p50-wait-sec")
	b.ReportMetric(waits.quantile(0.99), "p99-wait-sec")
	b.ReportMetric(waits.quantile(0.999), "p99.9-wait-sec")
	b.ReportMetric(waits.longest.Seconds(), "max-wait-sec")
	b.ReportMetric(noise.longest.Seconds(), "max-quiet-sec")
}

// waitTimes counts times by their length, to a sixteenth of it.
type waitTimes struct {
	counts  [64 * 16]int
	total   int
	longest time.Duration
}

func (w *waitTimes) time(f func()) {
	begin := time.Now()
	f()
	took := time.Since(begin)
	w.longest = max(w.longest, took)
	w.total++
	w.counts[bucketOf(uint64(took))]++
}

// bucketOf returns the number of leading bits and the four bits after them, as one
// number.
func bucketOf(ns uint64) int {
	length := bits.Len64(ns | 16)
	return length<<4 | int(ns|16)>>(length-5)&15
}

// quantile returns a time in seconds that the given share of all did not exceed.
func (w *waitTimes) quantile(share float64) float64 {
	left := int(float64(w.total) * share)
	for i, count := range w.counts {
		if left -= count; left < 0 {
			return time.Duration((uint64(i&15) + 17) << (i>>4 - 5)).Seconds()
		}
	}
	return w.longest.Seconds()
}
