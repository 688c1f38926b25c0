package fleet_test

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"pgregory.net/rapid"

	"github.com/kubetyped/informer/index"
	"github.com/kubetyped/informer/internal/test/rig"
	"github.com/kubetyped/informer/internal/test/sinktest"
	"github.com/kubetyped/informer/typed/fleet"
	"github.com/kubetyped/informer/typed/source"
)

// TestModel lets clusters join, leave, change, be listed, change objects, reject some, fail,
// work again and end, and time pass, at random. After each step, it compares the store, the
// events with their reasons, and the status of each cluster with a map for each cluster.
func TestModel(t *testing.T) { rapid.Check(t, checkModel(t)) }

func FuzzModel(f *testing.F) {
	f.Fuzz(func(t *testing.T, input []byte) { rapid.MakeFuzz(checkModel(t))(t, input) })
}

const (
	modelPatience = 10 * time.Second
	modelExpiry   = time.Minute
)

func checkModel(t *testing.T) func(*rapid.T) {
	return func(rt *rapid.T) {
		steps := rapid.SliceOfN(rapid.Uint32(), 10, 80).Draw(rt, "steps")
		var found rig.Complaints
		synctest.Test(t, func(t *testing.T) {
			m := &model{Complaints: &found, clusters: map[string]*cluster{}}
			for _, name := range []string{"c0", "c1"} {
				m.join(name)
			}
			m.world = prepareWorld(t, []string{"c0", "c1"}, fleet.WithPatience(modelPatience), fleet.WithExpiry(modelExpiry))
			m.world.complain = m.Complaints
			m.world.start()
			for i, step := range steps {
				m.step(int(step))
				m.check(fmt.Sprintf("step %d: %d", i, step))
			}
		})
		require.Empty(rt, found.List)
	}
}

// model is what an informer over clusters is meant to have.
type model struct {
	*world
	*rig.Complaints
	clusters map[string]*cluster
	synced   bool
	clock    int // the last version given to anything
	have     map[index.Key]string
}

// cluster is one cluster of a model.
type cluster struct {
	joined  time.Time
	fresh   bool // the source has not listed yet
	listed  bool // there are objects of it
	ended   bool
	excused bool
	failing time.Time
	objects map[index.Key]string
	reason  index.Reason // of what happens in this step
}

func (m *model) join(name string) {
	m.clusters[name] = &cluster{joined: time.Now(), fresh: true, objects: map[index.Key]string{}}
}

func (m *model) step(random int) {
	next := func(n int) int {
		r := random % n
		random /= n
		return r
	}
	name := fmt.Sprint("c", next(4))
	c := m.clusters[name]
	kind := next(16)
	m.clock++
	switch {
	case kind == 0:
		for range []int{1, 2, 6, 12}[next(4)] { // one by one: what happens first, decides
			time.Sleep(5 * time.Second)
			m.check("while time passes")
		}
	case c == nil && kind < 8:
		assert.NoError(m, m.world.clusters.Add(fleet.Cluster{Name: name}))
		m.join(name)
	case c == nil:
	case kind == 1:
		m.world.clusters.Remove(name)
		delete(m.clusters, name)
		if !m.synced { // without it, the others may be enough to sync: before it is there again, or not
			m.check("a cluster is gone")
		}
		if next(2) == 0 {
			assert.NoError(m, m.world.clusters.Put(fleet.Cluster{Name: name}))
			m.join(name)
		}
	case kind == 2:
		assert.NoError(m, m.world.clusters.Put(fleet.Cluster{Name: name}))
		c.fresh, c.ended = true, false
	case c.ended:
	case kind == 3:
		m.fail(c)
		m.of(name).Report(errDown)
	case kind == 4 && next(4) == 0:
		c.ended, c.excused = true, true
		if next(2) == 0 {
			m.scriptOf(name).end <- nil
		} else {
			m.scriptOf(name).end <- errDown
			m.fail(c)
		}
	case kind < 8 || c.fresh || !m.synced:
		m.relist(name, c, next)
	case kind == 8:
		c.failing = time.Time{}
		m.of(name).Report(nil)
	case kind == 9:
		sinktest.Bookmark(m.of(name), strconv.Itoa(m.clock))
	default:
		m.change(name, c, next)
	}
}

func (m *model) fail(c *cluster) {
	if c.failing.IsZero() {
		c.failing = time.Now()
	}
	c.excused = true
}

// relist lists a cluster, with some objects that are rejected.
func (m *model) relist(name string, c *cluster, next func(int) int) {
	before := c.objects
	c.reason = index.Relisted
	if !c.listed {
		c.reason = index.Acquired
	}
	c.fresh, c.listed, c.failing = false, true, time.Time{}
	c.objects = map[index.Key]string{}
	sink := m.of(name)
	var list []source.Staged
	for i := range 5 {
		obj := m.object(i)
		key := fleet.Key(name, obj.Namespace, obj.Name)
		kind := next(4)
		if i == 0 && !m.synced {
			kind = 0 // a first list of which all is rejected is another story, see TestRejectedFirstList
		}
		switch kind {
		case 0, 1:
			list = append(list, sink.Stage(obj, ""))
			c.objects[key] = obj.ResourceVersion
		case 2:
			sink.Report(&source.RejectedError{Key: index.KeyOf(obj), Listed: true, Err: errBroken})
			list = append(list, source.Reject(index.KeyOf(obj)))
			if was, ok := before[key]; ok && m.synced {
				c.objects[key] = was
			}
		}
	}
	sink.Replace(source.List{Items: list}, strconv.Itoa(m.clock))
}

// object returns one of five objects of two namespaces, as it is now.
func (m *model) object(i int) *corev1.Pod {
	obj := at(string(rune('a'+i)), m.clock)
	obj.Namespace = fmt.Sprint("ns", i%2)
	return obj
}

// change changes an object of a cluster.
func (m *model) change(name string, c *cluster, next func(int) int) {
	obj, version := m.object(next(5)), strconv.Itoa(m.clock)
	key := fleet.Key(name, obj.Namespace, obj.Name)
	c.reason = index.Watched
	switch next(5) {
	case 0:
		if was, ok := c.objects[key]; ok {
			obj.ResourceVersion = was // what the event has, to compare
		}
		sinktest.Delete(m.of(name), obj, version)
		delete(c.objects, key)
	case 1:
		sinktest.Remove(m.of(name), index.KeyOf(obj), index.Watched, version)
		delete(c.objects, key)
	case 2:
		m.of(name).Report(&source.RejectedError{Key: index.KeyOf(obj), Err: errBroken})
	default:
		sinktest.Put(m.of(name), obj, version)
		c.objects[key] = obj.ResourceVersion
	}
}

// advance applies timeouts that have passed to the model.
func (m *model) advance() {
	for _, c := range m.clusters {
		if time.Since(c.joined) >= modelPatience {
			c.excused = true
		}
		if !c.failing.IsZero() && c.listed && time.Since(c.failing) >= modelExpiry {
			c.listed, c.fresh, c.reason = false, true, index.Released
			clear(c.objects)
		}
	}
	if m.synced {
		return
	}
	someListed, all := len(m.clusters) == 0, true
	for _, c := range m.clusters {
		someListed = someListed || c.listed
		all = all && (c.listed || c.excused)
	}
	if m.synced = someListed && all; m.synced {
		for _, c := range m.clusters {
			c.reason = index.Initial
		}
	}
}

func (m *model) check(step string) {
	synctest.Wait()
	m.advance()
	assert.Equal(m, m.synced, m.isSynced(), step)
	want := map[index.Key]string{}
	for name, c := range m.clusters {
		if m.synced {
			maps.Copy(want, c.objects)
		}
		m.checkStatus(step, m.status(name), c)
	}
	assert.Equal(m, m.events(want), m.world.next(), step)
	m.have = want
	have := map[index.Key]string{}
	for obj := range m.All() {
		have[index.KeyOf(obj)] = obj.GetResourceVersion()
	}
	assert.Equal(m, want, have, step)
	for _, v := range fleet.ParseVersion(m.ResourceVersion()) {
		assert.Contains(m, m.clusters, v.Cluster, step)
	}
	for _, c := range m.clusters {
		c.reason = index.Released // if it is gone in the next step, and there again
	}
}

// events returns the events that lead to the wanted state, sorted.
func (m *model) events(want map[index.Key]string) []string {
	reason := func(key index.Key) index.Reason {
		cluster, _ := fleet.Split(key)
		if c := m.clusters[cluster]; c != nil && c.reason != 0 {
			return c.reason
		}
		return index.Released
	}
	var events []string
	for key, version := range want {
		switch was, ok := m.have[key]; {
		case !ok:
			events = append(events, fmt.Sprintf("Added %v %v@%s", reason(key), key, version))
		case was != version:
			events = append(events, fmt.Sprintf("Updated %v %v@%s", reason(key), key, version))
		}
	}
	for key, version := range m.have {
		if _, ok := want[key]; !ok {
			events = append(events, fmt.Sprintf("Deleted %v %v@%s", reason(key), key, version))
		}
	}
	slices.Sort(events)
	return events
}

func (m *model) checkStatus(step string, s fleet.ClusterStatus, c *cluster) {
	assert.Equal(m, !c.failing.IsZero(), s.Err != nil, step)
	want := fleet.PhaseSynced
	switch {
	case c.ended && !c.failing.IsZero():
		want = fleet.PhaseFailed
	case c.ended:
		want = fleet.PhaseEnded
	case !c.listed:
		want = fleet.PhaseListing
	case !c.failing.IsZero():
		want = fleet.PhaseStale
	}
	assert.Equal(m, want, s.Phase, step)
	assert.Equal(m, len(c.objects), s.Objects, step)
}
