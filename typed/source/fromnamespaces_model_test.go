package source_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/kubetyped/informer/index"
	"github.com/kubetyped/informer/internal/test/rig"
	"github.com/kubetyped/informer/internal/test/sinktest"
	"github.com/kubetyped/informer/typed"
	"github.com/kubetyped/informer/typed/source"
)

// TestNamespacesModel lists, changes, relists, adds and removes namespaces at random, and compares
// the store, its version and the events of a handler with a map for each namespace.
func TestNamespacesModel(t *testing.T) { rapid.Check(t, checkNamespacesModel(t)) }

func FuzzNamespacesModel(f *testing.F) {
	f.Fuzz(func(t *testing.T, input []byte) {
		rapid.MakeFuzz(checkNamespacesModel(t))(t, input)
	})
}

func checkNamespacesModel(t *testing.T) func(*rapid.T) {
	return func(rt *rapid.T) {
		steps := rapid.SliceOfN(rapid.Uint32(), 10, 80).Draw(rt, "steps")
		var found rig.Complaints
		synctest.Test(t, func(t *testing.T) {
			m := &spacesModel{spacesRig: newSpacesRig(t, "n0", "n1"), Complaints: &found, spaces: map[string]*space{}, told: map[index.Key]*rig.Thing{}}
			_, err := m.Handle(m)
			require.NoError(t, err)
			m.enter("n0")
			m.enter("n1")
			for i, step := range steps {
				m.step(int(step))
				m.check(fmt.Sprintf("step %d: %d", i, step))
			}
		})
		require.Empty(rt, found.List)
	}
}

// spacesModel is the expected state of an informer over namespaces. As a handler, it plays back the
// events.
type spacesModel struct {
	*spacesRig
	*rig.Complaints
	spaces  map[string]*space
	synced  bool
	version int // that the informer has reached
	clock   int // the last version given to anything
	told    map[index.Key]*rig.Thing
	calls   sync.Mutex // guards the field above
	stays   []uint64   // all that were found
}

// errRefused is an error for which the informer does not wait.
var errRefused = fmt.Errorf("%w: it is forbidden", source.ErrPassedOver)

// space is one namespace.
type space struct {
	sink    source.Sink[*rig.Thing]
	stay    uint64 // that the last check has found, 0 if it was not listed
	listed  bool
	refused bool // it is passed over
	failing bool
	version int
	objects map[index.Key]*rig.Thing
}

func (m *spacesModel) enter(name string) {
	m.spaces[name] = &space{sink: m.sinkOf(name), objects: map[index.Key]*rig.Thing{}}
}

func (m *spacesModel) step(random int) {
	next := func(n int) int {
		r := random % n
		random /= n
		return r
	}
	name := fmt.Sprint("n", next(4))
	s := m.spaces[name]
	kind := next(9)
	m.clock += 1 + next(3)
	switch {
	case s == nil && kind < 4:
		assert.NoError(m, m.set.Add(name))
		m.enter(name)
	case s == nil:
	case kind == 0:
		m.set.Remove(name)
		delete(m.spaces, name)
	case kind == 8:
		s.refused, s.failing = true, true
		s.sink.Report(errRefused)
	case kind < 4 || !m.synced || !s.listed:
		m.list(name, s, next(4), max(1, m.clock-next(6)))
	case kind == 4:
		s.version = m.clock
		sinktest.Bookmark(s.sink, strconv.Itoa(m.clock))
	default:
		o := in(name, rig.At(string(rune('a'+next(4))), m.clock))
		s.version = m.clock
		switch next(3) {
		case 0:
			delete(s.objects, index.KeyOf(o))
			sinktest.Delete(s.sink, o, strconv.Itoa(m.clock))
		case 1:
			delete(s.objects, index.KeyOf(o))
			sinktest.Remove(s.sink, index.KeyOf(o), index.OutOfScope, strconv.Itoa(m.clock))
		default:
			s.objects[index.KeyOf(o)] = o
			sinktest.Put(s.sink, o, strconv.Itoa(m.clock))
		}
	}
}

func (m *spacesModel) list(name string, s *space, size, version int) {
	s.listed, s.failing, s.version = true, false, version
	clear(s.objects)
	for i := range size {
		o := in(name, rig.At(string(rune('a'+(i+version)%5)), m.clock))
		s.objects[index.KeyOf(o)] = o
	}
	sinktest.Replace(s.sink, "", slices.Collect(maps.Values(s.objects)), strconv.Itoa(version))
}

func (m *spacesModel) check(step string) {
	synctest.Wait()
	all, lowest := true, 0
	want := map[index.Key]*rig.Thing{}
	for _, s := range m.spaces {
		maps.Copy(want, s.objects)
		if s.refused && !s.listed {
			continue
		}
		all = all && s.listed
		if lowest == 0 || s.version < lowest {
			lowest = s.version
		}
	}
	m.synced = m.synced || all
	if all && lowest > 0 {
		m.version = lowest
	}
	if !m.synced {
		want, m.version = map[index.Key]*rig.Thing{}, 0
	}
	assert.Equal(m, m.synced, rig.IsClosed(m.Synced()), step)
	for i := range 4 {
		m.checkStay(step, fmt.Sprint("n", i))
	}
	version := m.ResourceVersion()
	if m.version == 0 {
		version += "0"
	}
	assert.Equal(m, strconv.Itoa(m.version), version, step)
	have := map[index.Key]*rig.Thing{}
	for o := range m.All() {
		have[index.KeyOf(o)] = o
	}
	assert.Equal(m, want, have, step)
	m.calls.Lock()
	defer m.calls.Unlock()
	assert.Equal(m, want, m.told, step)
}

// checkStay checks that a namespace can be read when it was listed, and by another number each
// time that it has come into the set.
func (m *spacesModel) checkStay(step, name string) {
	stay, err := m.of.(source.Scoped).Stay(name)
	s := m.spaces[name]
	assert.Equal(m, s != nil, m.set.Has(name), step)
	switch {
	case s == nil:
		assert.ErrorIs(m, err, source.ErrOutside, step)
		assert.Equal(m, m.set.Err(name), err, step)
	case !s.listed || !m.synced:
		assert.ErrorIs(m, err, source.ErrUnlisted, step)
		assert.Equal(m, s.failing, errors.Is(err, errRefused), step)
		assert.NoError(m, m.set.Err(name), step)
	case s.stay == 0:
		assert.NoError(m, err, step)
		assert.NotContains(m, m.stays, stay, step)
		m.stays, s.stay = append(m.stays, stay), stay
	default:
		assert.NoError(m, err, step)
		assert.Equal(m, s.stay, stay, step)
	}
}

func (m *spacesModel) OnAdd(o *rig.Thing, _ bool) {
	m.calls.Lock()
	defer m.calls.Unlock()
	assert.NotContains(m, m.told, index.KeyOf(o))
	_, err := m.of.(source.Scoped).Stay(o.Namespace)
	assert.NoError(m, err, "a handler reads")
	m.told[index.KeyOf(o)] = o
}

func (m *spacesModel) OnUpdate(old, o *rig.Thing) {
	m.calls.Lock()
	defer m.calls.Unlock()
	assert.Same(m, m.told[index.KeyOf(o)], old)
	m.told[index.KeyOf(o)] = o
}

func (m *spacesModel) OnDelete(d typed.Deleted[*rig.Thing]) {
	m.calls.Lock()
	defer m.calls.Unlock()
	assert.Same(m, m.told[d.Key], d.Old)
	delete(m.told, d.Key)
}

// TestNamespacesChangeWhileTheyReport changes a set, which two informers follow,
// while the sources of all its namespaces report as fast as they can.
func TestNamespacesChangeWhileTheyReport(t *testing.T) {
	set := source.NewNamespaces("n0", "n1", "n2")
	src := func(namespace string) source.Source[*rig.Thing] { return rig.Busy(namespace) }
	var informers []*typed.Informer[*rig.Thing]
	for range 2 {
		informers = append(informers, typed.NewInformer(source.FromNamespaces(set, src)))
	}
	var ctx context.Context
	for _, informer := range informers {
		_, err := informer.Handle(&rig.Recorder{}, typed.WithDelivery(typed.Block(10)))
		require.NoError(t, err)
		ctx = rig.Start(t, informer)
	}
	for i := range 300 {
		require.NoError(t, set.Add(fmt.Sprint("n", i%5)))
		set.Remove(fmt.Sprint("n", (i*3+1)%5))
		if i == 100 {
			for _, informer := range informers {
				require.NoError(t, informer.WaitForSync(ctx))
			}
		}
	}
	require.NoError(t, set.Set("n1"))
	require.NoError(t, set.Set("n1", "n4"))
	for _, informer := range informers {
		gone := make(chan struct{})
		for range informer.Events(ctx).All() {
			if len(informer.ListNamespace("n1")) == 1 && len(informer.ListNamespace("n4")) == 1 && informer.Len() == 2 {
				close(gone)
				break
			}
		}
		assert.True(t, rig.IsClosed(gone))
	}
}
