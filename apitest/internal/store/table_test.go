package store_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
	"pgregory.net/rapid"

	"github.com/kubetyped/informer/apitest/internal/store"
)

func object(name string) *corev1.ConfigMap {
	return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name}}
}

func put(t require.TestingT, table *store.Table, key string) *store.Version {
	present, _ := table.Get(key)
	v, err := table.Put(key, present, object(key))
	require.NoError(t, err)
	return v
}

// TestEncodingWritesNothing: what is stored is encoded for several clients at once, and a
// quantity that is encoded keeps its text.
func TestEncodingWritesNothing(t *testing.T) {
	limit := resource.MustParse("0.5Gi")
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "a"}, Spec: corev1.PodSpec{Volumes: []corev1.Volume{
		{VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{SizeLimit: &limit}}},
	}}}
	v, err := store.New(100).Table().Put("a", nil, pod)
	require.NoError(t, err)
	before := limit
	_, err = v.Object.(*corev1.Pod).Marshal()
	require.NoError(t, err)
	assert.True(t, before == limit, "it was written to")
}

// TestCompactionOfOneObject: a history of one object takes no longer to forget than one of many.
func TestCompactionOfOneObject(t *testing.T) {
	const history = 200_000
	table := store.New(history).Table()
	var longest time.Duration
	for range history + 1 {
		begun := time.Now()
		put(t, table, "a")
		longest = max(longest, time.Since(begun))
	}
	assert.Greater(t, table.Oldest(), uint64(1), "it was compacted")
	assert.Less(t, longest, 2*time.Second)
}

func TestWritesAreNumberedAcrossTables(t *testing.T) {
	s := store.New(100)
	a, b := s.Table(), s.Table()
	assert.EqualValues(t, 1, s.Revision(), "a list of nothing has a version to watch from")
	assert.EqualValues(t, 2, put(t, a, "x").Revision)
	assert.EqualValues(t, 3, put(t, b, "x").Revision)
	v := put(t, a, "x")
	assert.EqualValues(t, 4, v.Revision)
	assert.Equal(t, "4", v.Object.(*corev1.ConfigMap).ResourceVersion)
	assert.EqualValues(t, 4, s.Revision())
}

func TestWriteOfAStaleVersionIsRefused(t *testing.T) {
	table := store.New(100).Table()
	old := put(t, table, "x")
	_, err := table.Put("x", nil, object("x"))
	assert.ErrorIs(t, err, store.ErrChanged)
	put(t, table, "x")
	_, err = table.Put("x", old, object("x"))
	assert.ErrorIs(t, err, store.ErrChanged)
	_, err = table.Delete("x", old)
	assert.ErrorIs(t, err, store.ErrChanged)
	present, revision := table.Get("x")
	assert.EqualValues(t, 3, revision, "a refused write has no number")
	_, err = table.Delete("x", present)
	require.NoError(t, err)
	gone, _ := table.Get("x")
	assert.Nil(t, gone)
}

func TestEncodedOnce(t *testing.T) {
	table := store.New(100).Table()
	cursor, err := table.Watch(1)
	require.NoError(t, err)
	put(t, table, "x")
	batch, err := cursor.Next(10)
	require.NoError(t, err)
	require.Len(t, batch.Events, 1)
	calls := 0
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			data, err := batch.Events[0].Encoded(store.Variant{MediaType: "m"}, func() ([]byte, error) {
				calls++
				return []byte("bytes"), nil
			})
			assert.NoError(t, err)
			assert.Equal(t, "bytes", string(data))
		})
	}
	wg.Wait()
	assert.Equal(t, 1, calls)
}

func TestCursorIsWoken(t *testing.T) {
	s := store.New(100)
	table, other := s.Table(), s.Table()
	cursor, err := table.Watch(1)
	require.NoError(t, err)
	batch, err := cursor.Next(10)
	require.NoError(t, err)
	require.Empty(t, batch.Events)
	put(t, other, "y")
	select {
	case <-batch.Changed:
		assert.Fail(t, "woken by another resource")
	default:
	}
	put(t, table, "x")
	<-batch.Changed
	batch, err = cursor.Next(10)
	require.NoError(t, err)
	require.Len(t, batch.Events, 1)
	assert.EqualValues(t, 3, batch.Revision)
}

// model is the table, done naively: every state it ever had.
type model struct {
	states map[uint64]map[string]uint64 // the revision of each key, at each revision
	events []string
}

// TestAgainstModel does random writes and compactions, and compares every list
// at every revision and the whole of a watch with the naive model.
func TestAgainstModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		limit := rapid.IntRange(2, 40).Draw(t, "limit")
		s := store.New(limit)
		table := s.Table()
		cursor, err := table.Watch(1)
		require.NoError(t, err)
		m := model{states: map[uint64]map[string]uint64{1: {}}}
		seen := []string{}
		drain := func() {
			for {
				batch, err := cursor.Next(3)
				require.NoError(t, err)
				for _, e := range batch.Events {
					seen = append(seen, fmt.Sprint(e.Revision(), e.Type, e.Current.Object.(*corev1.ConfigMap).Name))
				}
				if len(batch.Events) == 0 {
					return
				}
			}
		}
		for range rapid.IntRange(1, 60).Draw(t, "steps") {
			key := rapid.SampledFrom([]string{"a/1", "a/2", "a-b/1", "b/1", "b/2"}).Draw(t, "key")
			before := m.states[s.Revision()]
			switch rapid.IntRange(0, 9).Draw(t, "step") {
			case 0:
				drain()
				s.Compact()
				continue
			case 1, 2, 3:
				present, _ := table.Get(key)
				_, exists := before[key]
				require.Equal(t, exists, present != nil)
				if !exists {
					continue
				}
				_, err := table.Delete(key, present)
				require.NoError(t, err)
				m.write(s.Revision(), before, key, watch.Deleted)
			default:
				kind := watch.Added
				if _, exists := before[key]; exists {
					kind = watch.Modified
				}
				put(t, table, key)
				m.write(s.Revision(), before, key, kind)
			}
			drain()
		}
		require.Equal(t, m.events, append([]string(nil), seen...))
		for revision, state := range m.states {
			for _, prefix := range []string{"", "a/", "b/"} {
				m.compare(t, table, revision, state, prefix)
			}
		}
		require.Equal(t, len(m.states[s.Revision()]), table.Len())
	})
}

func (m *model) write(revision uint64, before map[string]uint64, key string, kind watch.EventType) {
	after := map[string]uint64{}
	for k, v := range before {
		after[k] = v
	}
	delete(after, key)
	if kind != watch.Deleted {
		after[key] = revision
	}
	m.states[revision] = after
	m.events = append(m.events, fmt.Sprint(revision, kind, key))
}

func (m *model) compare(t *rapid.T, table *store.Table, revision uint64, state map[string]uint64, prefix string) {
	found, at, err := table.List(prefix, "", revision)
	if revision < table.Oldest() {
		require.ErrorIs(t, err, store.ErrCompacted)
		return
	}
	require.NoError(t, err)
	require.Equal(t, revision, at)
	var got, want []string
	for _, v := range found {
		got = append(got, fmt.Sprint(v.Object.(*corev1.ConfigMap).Name, v.Revision))
	}
	for key, written := range state {
		if strings.HasPrefix(key, prefix) {
			want = append(want, fmt.Sprint(key, written))
		}
	}
	slices.Sort(want)
	slices.Sort(got)
	require.Equal(t, want, got)
	require.True(t, slices.IsSortedFunc(found, func(a, b *store.Version) int {
		return strings.Compare(a.Object.(*corev1.ConfigMap).Name, b.Object.(*corev1.ConfigMap).Name)
	}))
}

// TestConcurrentWritersAndWatches checks that each watch sees every write once
// and in order, whatever the others do.
func TestConcurrentWritersAndWatches(t *testing.T) {
	const writers, writes = 4, 200
	table := store.New(10_000).Table()
	var wg sync.WaitGroup
	for w := range writers {
		wg.Go(func() {
			r := rand.New(rand.NewPCG(1, uint64(w)))
			for range writes {
				put(t, table, fmt.Sprintf("%d/%d", w, r.IntN(10)))
			}
		})
	}
	for range 3 {
		cursor, err := table.Watch(1)
		require.NoError(t, err)
		wg.Go(func() {
			for last := uint64(1); last < 1+writers*writes; {
				batch, err := cursor.Next(7)
				if !assert.NoError(t, err) {
					return
				}
				for _, e := range batch.Events {
					if !assert.Equal(t, last+1, e.Revision()) {
						return
					}
					last = e.Revision()
				}
				if len(batch.Events) == 0 {
					<-batch.Changed
				}
			}
		})
	}
	wg.Wait()
}

// TestBoundedCursor: what is after the bound is seen once that is lifted, and
// nothing is lost or seen twice.
func TestBoundedCursor(t *testing.T) {
	table := store.New(100).Table()
	cursor, err := table.Watch(1)
	require.NoError(t, err)
	for range 3 {
		put(t, table, "x") // 2, 3, 4
	}
	next := func(bound uint64) (revisions []uint64, b store.Batch) {
		cursor.Bound(bound)
		b, err := cursor.Next(10)
		require.NoError(t, err)
		for _, e := range b.Events {
			revisions = append(revisions, e.Revision())
		}
		return revisions, b
	}
	seen, _ := next(3)
	assert.Equal(t, []uint64{2, 3}, seen)
	seen, batch := next(3)
	assert.Empty(t, seen)
	assert.EqualValues(t, 3, batch.Revision)
	assert.Nil(t, batch.Changed)
	seen, _ = next(0)
	assert.Equal(t, []uint64{4}, seen)
	seen, batch = next(9)
	assert.Empty(t, seen)
	assert.NotNil(t, batch.Changed, "nothing has been written up to the bound")

	past, at, err := table.ListAndWatchAt("", 2)
	require.NoError(t, err)
	require.Len(t, past, 1)
	assert.EqualValues(t, 2, past[0].Revision)
	rest, err := at.Next(10)
	require.NoError(t, err)
	assert.Len(t, rest.Events, 2)
	v, err := table.At("x", 3)
	require.NoError(t, err)
	assert.EqualValues(t, 3, v.Revision)
	_, err = table.At("x", 0)
	assert.ErrorIs(t, err, store.ErrCompacted)
}
