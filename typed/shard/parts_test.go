package shard

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"pgregory.net/rapid"

	"github.com/kubetyped/informer/index"
	"github.com/kubetyped/informer/internal/test/sinktest"
	"github.com/kubetyped/informer/typed/source"
)

// write is what was written to an object: its state after that, and nil if it was deleted.
type write struct {
	key     index.Key
	version uint64
	obj     *corev1.ConfigMap
}

// partsModel is a server, the lists and watches of a member, and the informer behind them. The
// label place of an object decides its hash range, and changes.
type partsModel struct {
	parts   *parts[*corev1.ConfigMap]
	group   *Group
	places  []string // values of the label, each of another range
	ignores bool     // the server sends all objects

	log     []write
	streams map[*part[*corev1.ConfigMap]]int // how much of the log a watch has sent; those that were listed

	failed func(format string, args ...any)
	store  map[index.Key]*corev1.ConfigMap
	synced bool
	at     uint64 // the last version that the informer received
	lists  int

	wentBack bool // the version
}

func newPartsModel(t *rapid.T) *partsModel {
	g, err := newGroup(&leaseClient{leaseStore: newLeaseStore()}, "ns", "group", []Option{WithIdentity("a"), WithHash(Label("place"))})
	require.NoError(t, err)
	m := &partsModel{group: g, streams: map[*part[*corev1.ConfigMap]]int{}, store: map[index.Key]*corev1.ConfigMap{}, failed: t.Fatalf}
	used := ranges{}
	for i := 0; len(m.places) < 6; i++ {
		if place := fmt.Sprint("p", i); !used.has(g.rangeOf(place)) {
			used.add(g.rangeOf(place))
			m.places = append(m.places, place)
		}
	}
	m.log = append(m.log, write{key: modelKey(0), version: 1}) // servers have no version 0
	m.ignores = rapid.IntRange(0, 4).Draw(t, "ignores") == 0
	s := NewSource(g, func() source.Source[*corev1.ConfigMap] { return nil })
	require.NoError(t, s.err)
	s.asks.Store(true)
	m.parts = newParts[*corev1.ConfigMap](s, m)
	m.parts.follower = &follower{group: g, changed: make(chan struct{}, 1)}
	return m
}

func (m *partsModel) rangeOf(obj *corev1.ConfigMap) uint8 {
	return m.group.rangeOf(obj.Labels["place"])
}

// state returns the state of a key after some writes.
func (m *partsModel) state(key index.Key, after int) *corev1.ConfigMap {
	for i := after - 1; i >= 0; i-- {
		if m.log[i].key == key {
			return m.log[i].obj
		}
	}
	return nil
}

func modelKey(i int) index.Key { return index.Key{Namespace: "ns", Name: fmt.Sprint("o", i)} }

const modelKeys = 5

// sends reports whether a watch has an object.
func (m *partsModel) sends(q *part[*corev1.ConfigMap], obj *corev1.ConfigMap) bool {
	return obj != nil && (m.ignores || q.asked.has(m.rangeOf(obj)))
}

// list delivers a list of a part, in the state after some writes.
func (m *partsModel) list(q *part[*corev1.ConfigMap], after int) {
	version := strconv.Itoa(after)
	var list []source.Staged
	for i := range modelKeys {
		if obj := m.state(modelKey(i), after); m.sends(q, obj) {
			list = append(list, q.Stage(obj, obj.ResourceVersion))
		}
	}
	m.streams[q] = after
	m.lists++
	q.Replace(source.List{Items: list}, version)
}

// next makes a watch send its next event, and reports whether there was one.
func (m *partsModel) next(q *part[*corev1.ConfigMap]) bool {
	at := m.streams[q]
	if at == len(m.log) {
		return false
	}
	w := m.log[at]
	m.streams[q]++
	version := strconv.FormatUint(w.version, 10)
	before := m.state(w.key, at)
	switch {
	case m.sends(q, w.obj):
		sinktest.Put(q, w.obj, version)
	case m.sends(q, before):
		last := before.DeepCopy()
		last.ResourceVersion = version
		sinktest.Delete(q, last, version)
	case at%3 == 0:
		sinktest.Bookmark(q, version)
	}
	return true
}

// running returns the parts that run, in their order.
func (m *partsModel) running() []*part[*corev1.ConfigMap] { return slices.Clone(m.parts.running) }

// keep gives the member some hash ranges.
func (m *partsModel) keep(ctx context.Context, kept ranges, rest bool) {
	m.group.mu.Lock()
	for r := range kept.minus(m.group.kept).all() {
		m.group.since[r]++
	}
	m.group.kept = kept
	m.group.mu.Unlock()
	m.parts.follow(ctx, rest)
	m.parts.report()
}

// TestPartsModel: watches of parts begin, lag, are listed again, and take ranges from each other,
// while the member's ranges and objects change. The informer never receives an older state than its
// own, nor a version that it has not reached, and in the end it has the server's objects.
func TestPartsModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := newPartsModel(t)
		ctx, cancel := context.WithCancel(context.Background())
		defer cancel()
		part := func(t *rapid.T) *part[*corev1.ConfigMap] {
			if len(m.parts.running) == 0 {
				t.Skip("there is none")
			}
			return rapid.SampledFrom(m.running()).Draw(t, "part")
		}
		t.Repeat(map[string]func(*rapid.T){
			"write": func(t *rapid.T) {
				key := modelKey(rapid.IntRange(0, modelKeys-1).Draw(t, "key"))
				w := write{key: key, version: uint64(len(m.log) + 1)}
				if rapid.IntRange(0, 3).Draw(t, "deleted") > 0 {
					w.obj = &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: key.Namespace, Name: key.Name, ResourceVersion: strconv.FormatUint(w.version, 10),
						Labels: map[string]string{"place": rapid.SampledFrom(m.places).Draw(t, "place")}}}
				} else if m.state(key, len(m.log)) == nil {
					t.Skip("it does not exist")
				}
				m.log = append(m.log, w)
			},
			"ranges": func(t *rapid.T) {
				kept := ranges{}
				for _, place := range m.places {
					if rapid.Bool().Draw(t, place) {
						kept.add(m.group.rangeOf(place))
					}
				}
				m.keep(ctx, kept, false)
			},
			"rest": func(*rapid.T) { m.keep(ctx, m.group.kept, true) },
			"gate": func(t *rapid.T) { // the server selects from now on, or does not
				if rapid.IntRange(0, 3).Draw(t, "changes") == 0 {
					m.ignores = !m.ignores
				}
			},
			"list": func(t *rapid.T) {
				q := part(t)
				from := max(1, m.streams[q], len(m.log)-4)
				m.list(q, rapid.IntRange(from, len(m.log)).Draw(t, "at"))
			},
			"event": func(t *rapid.T) {
				q := part(t)
				if !q.listed {
					t.Skip("it was not listed")
				}
				for range rapid.IntRange(1, 4).Draw(t, "events") {
					m.next(q)
				}
			},
			"": func(*rapid.T) { m.checkVersions() },
		})
		for range 3 { // watches continue, those that take over end others, and waiting ranges are listed
			m.keep(ctx, m.group.kept, false)
			for _, q := range m.running() {
				if !q.listed {
					m.list(q, len(m.log))
				}
				for m.next(q) {
				}
			}
		}
		for i := range modelKeys {
			want := m.state(modelKey(i), len(m.log))
			if want != nil && (!m.group.kept.has(m.rangeOf(want)) || !m.synced) {
				want = nil
			}
			got := m.store[modelKey(i)]
			if (got == nil) != (want == nil) || got != nil && got.ResourceVersion != want.ResourceVersion {
				t.Fatalf("%s is %v, and should be %v", modelKey(i), got, want)
			}
		}
	})
}

// TestWatchOfTooMuchIsReplacedUnderLoad: when a member has given ranges away, a narrower watch
// replaces the full one, after one list, though the full one is always ahead.
func TestWatchOfTooMuchIsReplacedUnderLoad(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := newPartsModel(t)
		m.ignores = false
		ctx, cancel := context.WithCancel(context.Background())
		defer cancel()
		all, kept := ranges{}, ranges{}
		for i, place := range m.places {
			all.add(m.group.rangeOf(place))
			if i < 2 {
				kept.add(m.group.rangeOf(place))
			}
		}
		writes := func(n int) {
			for range n {
				key, version := modelKey(rapid.IntRange(0, modelKeys-1).Draw(t, "key")), uint64(len(m.log)+1)
				obj := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: key.Namespace, Name: key.Name, ResourceVersion: strconv.FormatUint(version, 10),
					Labels: map[string]string{"place": rapid.SampledFrom(m.places).Draw(t, "place")}}}
				m.log = append(m.log, write{key, version, obj})
			}
		}
		m.keep(ctx, all, false)
		writes(5)
		wide := m.running()[0]
		m.list(wide, len(m.log))
		m.keep(ctx, kept, false)
		m.keep(ctx, kept, true)
		narrow := m.running()[1]
		for range 10 {
			listed := len(m.log) - 3 // by a server that lags
			writes(5)
			for m.next(wide) { // first
			}
			if !narrow.listed {
				m.list(narrow, listed)
			}
			for range 4 {
				m.next(narrow)
			}
			m.keep(ctx, kept, true)
		}
		require.True(t, len(m.running()) == 1 && m.running()[0] == narrow, "the watch of what it has kept is the only one")
		require.Equal(t, 2, m.lists)
		require.False(t, m.wentBack, "the version is that of the one, then of the other")
	})
}

// TestVersionsWithoutNumbers: changes are passed on even if their versions have no order.
func TestVersionsWithoutNumbers(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := newPartsModel(t)
		all := ranges{}
		for _, place := range m.places {
			all.add(m.group.rangeOf(place))
		}
		m.keep(context.Background(), all, false)
		q := m.running()[0]
		q.Replace(source.List{}, "")
		obj := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "o0", Labels: map[string]string{"place": m.places[0]}}}
		for _, version := range []string{"", "x", "y"} {
			changed := obj.DeepCopy()
			delete(m.store, index.KeyOf(obj)) // which cannot report, either
			sinktest.Put(q, changed, version)
			require.Same(t, changed, m.store[index.KeyOf(obj)])
		}
		sinktest.Delete(q, obj, "z")
		require.Empty(t, m.store)
	})
}

// What follows is the informer.

func (m *partsModel) reach(version string) {
	if version == "" {
		return
	}
	m.wentBack = m.wentBack || number(version) < m.at
	m.at = number(version)
	for i := range modelKeys {
		key := modelKey(i)
		var w write
		for _, x := range m.log[:min(m.at, uint64(len(m.log)))] {
			if x.key == key {
				w = x
			}
		}
		has := uint64(0)
		if got := m.store[key]; got != nil {
			has = number(got.ResourceVersion)
		}
		in := w.obj != nil && m.parts.loaded.has(m.rangeOf(w.obj)) && m.group.kept.has(m.rangeOf(w.obj))
		switch later := slices.ContainsFunc(m.log[min(m.at, uint64(len(m.log))):], func(x write) bool { return x.key == key }); {
		case in && has < w.version && !(has == 0 && later):
			m.failed("version %d was reached, and %s is of version %d, not %d", m.at, key, has, w.version)
		case !in && has > 0 && has <= m.at:
			m.failed("version %d was reached, and %s is of version %d, though it is gone or elsewhere", m.at, key, has)
		}
	}
}

// checkVersions: the informer has what happened in a range up to the version of that.
func (m *partsModel) checkVersions() {
	for _, place := range m.places {
		r := m.group.rangeOf(place)
		at := number(m.parts.versionOf(r))
		last := map[index.Key]write{}
		for _, w := range m.log[:min(at, uint64(len(m.log)))] {
			last[w.key] = w
		}
		for key, w := range last {
			later := slices.ContainsFunc(m.log[min(at, uint64(len(m.log))):], func(x write) bool { return x.key == key })
			got := m.store[key]
			switch {
			case w.obj != nil && m.rangeOf(w.obj) == r && got == nil && !later:
				m.failed("range %d is at %d, and %s of version %d is missing", r, at, key, w.version)
			case got != nil && m.rangeOf(got) == r && number(got.ResourceVersion) < w.version:
				m.failed("range %d is at %d, and %s is of version %s, not %d", r, at, key, got.ResourceVersion, w.version)
			}
		}
	}
}

func (m *partsModel) put(obj *corev1.ConfigMap, again bool) {
	key := index.KeyOf(obj)
	if got := m.store[key]; got != nil {
		if old, now := number(got.ResourceVersion), number(obj.ResourceVersion); now < old || now == old && !again {
			m.failed("%s is put in version %d, and was of version %d", key, now, old)
		}
	}
	m.store[key] = obj
}

func (m *partsModel) gone(key index.Key) {
	if m.store[key] == nil {
		m.failed("%s is removed, and was not there", key)
	}
	delete(m.store, key)
}

func (m *partsModel) Change(c index.Change[*corev1.ConfigMap], version string) {
	m.change(c)
	m.reach(version)
}

func (m *partsModel) change(c index.Change[*corev1.ConfigMap]) {
	switch {
	case !c.Delete:
		m.put(c.Object, false)
	case c.Key != nil:
		m.gone(*c.Key)
	default:
		m.gone(index.KeyOf(c.Object))
	}
}

func (m *partsModel) Step(changes []index.Change[*corev1.ConfigMap], version string, done func()) {
	for _, c := range changes {
		m.change(c)
	}
	m.reach(version)
	if done != nil {
		done()
	}
}

type modelStaged struct {
	source.Staged
	obj *corev1.ConfigMap
}

func (m *partsModel) Stage(obj *corev1.ConfigMap, _ string) source.Staged {
	return modelStaged{source.Keep(obj), obj}
}

func (m *partsModel) Replace(l source.List, version string) {
	if !l.Part && m.synced || l.Namespace != "" {
		m.failed("all is replaced, and not a part")
	}
	m.synced = true
	for _, key := range l.Gone {
		m.gone(key)
	}
	for _, s := range l.Items {
		m.put(s.(modelStaged).obj, true)
	}
	m.reach(version)
}

func (m *partsModel) Report(error)      {}
func (m *partsModel) Progress(int, int) {}

func (m *partsModel) Decoding() source.Decoding[*corev1.ConfigMap] {
	return source.Decoding[*corev1.ConfigMap]{}
}
