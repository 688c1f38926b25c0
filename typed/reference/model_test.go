package reference_test

import (
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"strconv"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/kubetyped/informer/index"
	"github.com/kubetyped/informer/internal/test/rig"
	"github.com/kubetyped/informer/typed"
	"github.com/kubetyped/informer/typed/reference"
	"github.com/kubetyped/informer/typed/source"
)

var seeds = flag.Int("seeds", 150, "how many runs TestModel makes")

// TestModel lets owners, objects and faults come and go at random, in virtual time, and holds
// the source to its rules.
func TestModel(t *testing.T) {
	for seed := range uint64(*seeds) {
		var found rig.Complaints
		synctest.Test(t, func(t *testing.T) { runModel(t, seed, &found) })
		if len(found.List) > 0 {
			t.Fatalf("seed %d: %s", seed, found.List[0])
		}
	}
}

const modelIdle = 20 * time.Second

// model is what is known of the source, from outside.
type model struct {
	*world
	*rig.Complaints
	t        *testing.T
	source   *reference.Source[int, *rig.Thing]
	informer *typed.Informer[*rig.Thing]
	gets     sync.WaitGroup

	holds   map[int]map[index.Key]bool
	initial map[index.Key]bool // held at the start, without a break

	sees    sync.Mutex                    // guards what follows
	used    map[index.Key]time.Time       // when a key was held last
	answers map[index.Key]time.Time       // since when the state of a followed key is known
	states  map[index.Key]reference.State // the last one
	highest map[index.Key]int             // the highest version of a state
	objects map[index.Key]*rig.Thing      // as events have it
}

func runModel(t *testing.T, seed uint64, found *rig.Complaints) {
	random := rand.New(rand.NewPCG(seed, 1))
	m := &model{
		world: newWorld(random), Complaints: found, t: t, holds: map[int]map[index.Key]bool{}, initial: map[index.Key]bool{},
		used: map[index.Key]time.Time{}, answers: map[index.Key]time.Time{}, states: map[index.Key]reference.State{}, highest: map[index.Key]int{}, objects: map[index.Key]*rig.Thing{},
	}
	m.source = reference.NewSource[int](func(k index.Key) source.Source[*rig.Thing] { return &follow{m.world, k} }, reference.WithIdle(modelIdle))
	m.informer = typed.NewInformer(m.source)
	stop := m.source.Watch(m.watched)
	events := m.informer.Events(t.Context())
	var reading sync.WaitGroup
	reading.Go(func() {
		for e := range events.All() {
			m.event(e)
		}
	})
	for range random.IntN(8) {
		m.step()
	}
	for _, keys := range m.holds {
		for key := range keys {
			m.initial[key] = true
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	var running sync.WaitGroup
	running.Go(func() { assert.NoError(m, m.informer.Run(ctx)) })
	for range 40 {
		m.step()
		m.pass([]time.Duration{0, 200 * time.Millisecond, time.Second, 5 * time.Second, 25 * time.Second}[random.IntN(5)])
		m.check()
	}
	m.settle()
	m.gets.Wait()
	for owner := range m.holds {
		m.hold(owner, nil)
	}
	m.pass(2 * modelIdle)
	assert.Zero(m, m.informer.Len(), "nothing is held")
	assert.Zero(m, m.source.Status().Held+m.source.Status().Idle, "nothing is followed")
	for key, n := range m.running {
		assert.Zero(m, n, "the watch of %s", key)
	}
	stop()
	cancel()
	running.Wait()
	reading.Wait()
}

func thing(n int) index.Key { return rig.Key(fmt.Sprint("k", n)) }

// pass lets time pass.
func (m *model) pass(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
}

// hold holds keys, and notes since when what it releases is idle.
func (m *model) hold(owner int, keys []index.Key) {
	m.sees.Lock()
	for key := range m.holds[owner] {
		m.used[key] = time.Now()
	}
	m.holds[owner] = map[index.Key]bool{}
	for _, key := range keys {
		m.holds[owner][key] = true
	}
	m.sees.Unlock()
	assert.NoError(m, m.source.Hold(owner, keys...))
	for key := range m.initial {
		if !m.isHeld(key) {
			delete(m.initial, key)
		}
	}
}

func (m *model) isHeld(key index.Key) bool {
	for _, keys := range m.holds {
		if keys[key] {
			return true
		}
	}
	return false
}

// step does something at random.
func (m *model) step() {
	m.mu.Lock()
	defer m.mu.Unlock()
	key := thing(m.random.IntN(5))
	switch m.random.IntN(16) {
	case 0, 1, 2:
		var keys []index.Key
		for range m.random.IntN(4) {
			keys = append(keys, thing(m.random.IntN(5)))
		}
		owner := m.random.IntN(3)
		m.mu.Unlock()
		m.hold(owner, keys)
		m.mu.Lock()
	case 3, 4, 5, 6:
		m.write(key, m.random.IntN(3) > 0)
	case 7:
		m.forbidden[key] = !m.forbidden[key]
		if m.random.IntN(2) == 0 {
			m.cuts[key]++
		}
	case 8:
		m.cuts[key]++
		if m.random.IntN(2) == 0 {
			m.gone[key] = true
		}
	case 9:
		m.unable[key] = !m.unable[key]
	case 10, 11:
		m.to = m.random.IntN(2)
		server := m.random.IntN(2)
		if at := &m.lags[server]; *at == 0 {
			*at, m.since[server] = m.version, time.Now()
		} else {
			*at = 0
		}
	case 12:
		if m.random.IntN(8) == 0 {
			m.restore(max(10, m.version-m.random.IntN(20)))
		}
	default:
		m.get(key, time.Duration(m.random.IntN(20))*time.Second)
	}
}

// get calls Get, and looks at its answer.
func (m *model) get(key index.Key, patience time.Duration) {
	from := min(m.view(0), m.view(1))
	if !rig.IsClosed(m.informer.Synced()) {
		from = 10 // a list may wait for those of other keys
	}
	if at, err := strconv.Atoi(m.source.At(key)); err == nil {
		from = min(from, at)
	}
	m.gets.Go(func() {
		ctx, cancel := context.WithTimeout(m.t.Context(), patience)
		defer cancel()
		obj, exists, err := reference.Get(ctx, m.source, m.informer, key)
		m.mu.Lock()
		defer m.mu.Unlock()
		m.sees.Lock()
		defer m.sees.Unlock()
		m.used[key] = time.Now()
		switch {
		case !m.restored.IsZero(): // a key may be refused since before that
		case err != nil:
			assert.True(m, !exists && obj == nil)
			if m.source.State(key).Phase == reference.Present {
				assert.Error(m, ctx.Err(), "%v", err)
			}
		case exists:
			assert.NotNil(m, obj)
		default:
			assert.False(m, m.existed(key, from, m.version), "Get of %s says that there is none, between %d and %d", key, from, m.version)
		}
	})
}

// watched takes a change of a state.
func (m *model) watched(key index.Key, state reference.State) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.sees.Lock()
	defer m.sees.Unlock()
	before := m.states[key]
	m.states[key] = state
	if state.Phase == 0 {
		delete(m.answers, key)
		idle := time.Since(m.used[key])
		assert.GreaterOrEqual(m, idle, modelIdle, "%s is dropped too early", key)
		assert.False(m, m.isHeld(key), "%s is held and dropped", key)
		return
	}
	if _, ok := m.answers[key]; !ok {
		m.answers[key] = time.Now()
	}
	version, _ := strconv.Atoi(state.Version)
	if !m.restored.IsZero() {
		return // settle looks at the end
	}
	if version != 0 {
		assert.GreaterOrEqual(m, version, m.highest[key], "%s goes back: from %v to %v, past %v, deaf %v, %s, restored %v", key, before, state, m.past[key], m.deaf, m.world, m.restored)
		m.highest[key] = version
	}
	switch state.Phase {
	case reference.Present:
		assert.NotNil(m, m.at(key, version), "%s is not present at %d", key, version)
	case reference.Absent:
		assert.Nil(m, m.at(key, version), "%s is not absent at %d", key, version)
	case reference.Refused:
		assert.True(m, apierrors.IsForbidden(state.Err), "%v", state.Err)
	default:
		assert.Fail(m, "no such state", "%v", state)
	}
}

// event takes an event of the informer.
func (m *model) event(e typed.Event[*rig.Thing]) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.sees.Lock()
	defer m.sees.Unlock()
	key := e.Key()
	if e.Type != index.Deleted {
		m.objects[key] = e.New
		if e.Reason == index.Watched {
			assert.NotNil(m, m.states[key].Phase)
		}
		return
	}
	delete(m.objects, key)
	if m.restored.IsZero() && e.Reason != index.OutOfScope {
		assert.False(m, m.existed(key, e.New.Version, m.version), "%s is deleted (%s), and exists", key, e.Reason)
	}
	if e.Reason == index.OutOfScope {
		assert.GreaterOrEqual(m, time.Since(m.used[key]), modelIdle, "%s leaves too early", key)
	}
}

// check compares reads with the model, as far as they have to agree at any time.
func (m *model) check() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.sees.Lock()
	defer m.sees.Unlock()
	status := m.source.Status()
	followed := status.Held + status.Idle
	running := 0
	for key, n := range m.running {
		running += n
		assert.LessOrEqual(m, n, 1, "watches of %s", key)
	}
	assert.LessOrEqual(m, running, followed)
	known := true
	for i := range 5 {
		key := thing(i)
		state := m.source.State(key)
		if m.isHeld(key) || time.Since(m.used[key]) < modelIdle && !m.used[key].IsZero() {
			assert.True(m, state.Phase != 0 || !m.isHeld(key), "%s is held", key)
		}
		if m.initial[key] {
			known = known && state.Phase > reference.Pending
		}
		if since, ok := m.answers[key]; ok && !m.isHeld(key) && time.Since(m.used[key]) > modelIdle && time.Since(since) > modelIdle {
			assert.Zero(m, state.Phase, "%s is followed for too long", key)
		}
		if at, err := strconv.Atoi(m.source.At(key)); err == nil && state.Phase > reference.Pending {
			now, _ := strconv.Atoi(m.informer.ResourceVersion())
			if m.restored.IsZero() {
				assert.LessOrEqual(m, now, at, "the version of %s", key)
			}
		}
		if obj, exists := m.informer.Get(key); exists {
			assert.Equal(m, m.objects[key], obj, "events of %s", key)
		} else {
			assert.NotContains(m, m.objects, key, "events of %s", key)
		}
	}
	if rig.IsClosed(m.informer.Synced()) {
		assert.True(m, known, "it is synced, and a key has no answer")
	}
}

// settle ends all faults, and compares all states with the world.
func (m *model) settle() {
	m.mu.Lock()
	clear(m.forbidden)
	clear(m.unable)
	m.lags = [2]int{}
	m.mu.Unlock()
	m.pass(3 * time.Minute)
	m.mu.Lock()
	defer m.mu.Unlock()
	assert.True(m, rig.IsClosed(m.informer.Synced()))
	status := m.source.Status()
	assert.Empty(m, status.Refused)
	assert.Empty(m, status.Pending)
	for i := range 5 {
		key := thing(i)
		state := m.source.State(key)
		obj := m.at(key, m.version)
		have, exists := m.informer.Get(key)
		switch {
		case state.Phase == 0:
			assert.False(m, exists, "%s is not followed", key)
			assert.False(m, m.isHeld(key))
		case obj == nil:
			assert.Equal(m, reference.Absent, state.Phase, "%s: %v at %s, past %v, now %d, restored %v, deaf %v", key, state, m.source.At(key), m.past[key], m.version, m.restored, m.deaf)
			assert.False(m, exists, key)
		default:
			assert.Equal(m, reference.Present, state.Phase, "%s: %v at %s, past %v, now %d, restored %v, deaf %v", key, state, m.source.At(key), m.past[key], m.version, m.restored, m.deaf)
			assert.Equal(m, obj, have, key)
		}
		assert.Equal(m, state.Phase != 0, m.running[key] == 1, "the watch of %s: %v", key, state)
	}
}
