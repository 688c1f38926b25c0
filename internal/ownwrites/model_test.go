package ownwrites_test

import (
	"fmt"
	"maps"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/types"
	"pgregory.net/rapid"

	"github.com/kubetyped/informer/index"
	"github.com/kubetyped/informer/internal/ownwrites"
)

// commit is a write that the API server has made.
type commit struct {
	key      index.Key
	uid      types.UID
	deleted  bool
	selected bool // by the selector of the watch
}

// truth is the history of the API server; commit i has the version i+1.
type truth []commit

// at returns the last commit of a key up to a version, and its version; 0 if there is none.
func (h truth) at(key index.Key, version uint64) (commit, uint64) {
	for v := version; v > 0; v-- {
		if h[v-1].key == key {
			return h[v-1], v
		}
	}
	return commit{}, 0
}

// seen reports whether the watch's selector shows a key at a version.
func (h truth) seen(key index.Key, version uint64) (uid types.UID, of uint64) {
	if c, v := h.at(key, version); v > 0 && !c.deleted && c.selected {
		return c.uid, v
	}
	return "", 0
}

// reply is an answer that is on its way.
type reply struct {
	write    uint64
	state    ownwrites.State[string]
	deletion bool
	of       uint64 // the version that the server was at
}

// model is the API server, one watch, the answers on their way, and the store.
type model struct {
	filter  ownwrites.Filter[string]
	history truth
	replies []reply
	reached uint64               // what the watch has been sent
	cut     bool                 // the watch is
	store   map[index.Key]uint64 // versions
	uids    map[index.Key]types.UID
	known   map[index.Key]uint64 // the latest that was reported or answered of a key
	unsure  map[index.Key]uint64 // versions of states that were not taken, until the watch brings them
	killed  map[types.UID]bool   // those of answered deletions, which say nothing of others
	nextUID int
	begun   uint64 // writes
}

func (m *model) begin() uint64 {
	m.begun++
	return m.begun
}

func (m *model) head() uint64 { return uint64(len(m.history)) }

func (m *model) put(key index.Key, uid types.UID, version uint64) {
	m.store[key], m.uids[key] = version, uid
}

func (m *model) drop(key index.Key) {
	delete(m.store, key)
	delete(m.uids, key)
}

func (m *model) leave(t *rapid.T, keys []index.Key) {
	for _, key := range keys {
		m.drop(key)
	}
}

// knows notes that something was said of a key at a version.
func (m *model) knows(key index.Key, version uint64) { m.known[key] = max(m.known[key], version) }

// Write commits a change of some key, by the program itself or by others.
func (m *model) Write(t *rapid.T) {
	key := index.Key{Namespace: rapid.SampledFrom([]string{"", "shop"}).Draw(t, "namespace"), Name: rapid.SampledFrom([]string{"a", "b"}).Draw(t, "name")}
	own := rapid.Bool().Draw(t, "own")
	var r reply
	if own {
		r.write = m.begin()
	}
	present, v := m.history.at(key, m.head())
	c := commit{key: key, uid: present.uid, selected: rapid.IntRange(0, 3).Draw(t, "selected") > 0}
	created, held := false, false
	switch {
	case v == 0 || present.deleted:
		m.nextUID++
		c.uid, created = types.UID(fmt.Sprint("U", m.nextUID)), true
	case rapid.IntRange(0, 2).Draw(t, "delete") == 0:
		held = own && rapid.Bool().Draw(t, "held")
		c.deleted, c.selected = !held, present.selected
	case own && rapid.IntRange(0, 3).Draw(t, "effect") == 0:
		// It changes nothing.
		r.state = ownwrites.State[string]{Key: key, UID: present.uid, Version: v, Outside: !present.selected}
		r.of = v
		m.replies = append(m.replies, r)
		return
	}
	m.history = append(m.history, c)
	if own {
		r.state = ownwrites.State[string]{Key: key, UID: c.uid, Version: m.head(), Outside: !c.selected, Created: created, Held: held}
		r.deletion, r.of = c.deleted, m.head()
		m.replies = append(m.replies, r)
	}
}

// Answer delivers one of the answers, in any order; or it is lost.
func (m *model) Answer(t *rapid.T) {
	if len(m.replies) == 0 {
		return
	}
	i := rapid.IntRange(0, len(m.replies)-1).Draw(t, "answer")
	r := m.replies[i]
	m.replies = slices.Delete(m.replies, i, i+1)
	if rapid.IntRange(0, 9).Draw(t, "lost") == 0 {
		return
	}
	if r.deletion {
		m.killed[r.state.UID] = true
		if m.filter.AnsweredDeletion(r.state.Key, r.state.UID, m.begun, start) == ownwrites.Remove && m.uids[r.state.Key] == r.state.UID {
			m.drop(r.state.Key)
		}
		return
	}
	if r.state.Held { // it counts only for the object of its UID
		r.state.Unsure = m.uids[r.state.Key] != r.state.UID
	} else {
		m.knows(r.state.Key, r.of)
	}
	switch m.filter.Answered(r.state, r.write, start) {
	case ownwrites.Put:
		if r.state.Unsure {
			m.unsure[r.state.Key] = r.state.Version
		} else {
			m.put(r.state.Key, r.state.UID, r.state.Version)
		}
	case ownwrites.Leave:
		m.drop(r.state.Key)
	}
}

// Event sends what the watch has next.
func (m *model) Event(t *rapid.T) {
	if m.cut || m.reached == m.head() {
		return
	}
	m.reached++
	c := m.history[m.reached-1]
	m.knows(c.key, m.reached)
	_, before := m.history.seen(c.key, m.reached-1)
	uid, now := m.history.seen(c.key, m.reached)
	if before == 0 && now == 0 {
		return // the watch does not show it
	}
	deleted := now == 0
	if deleted {
		uid = c.uid
	}
	verdict, gone := m.filter.Watched(c.key, uid, deleted, m.reached, start)
	m.leave(t, gone)
	if verdict != ownwrites.Pass && verdict != ownwrites.Gone {
		return
	}
	if verdict == ownwrites.Gone {
		require.NotContains(t, m.store, c.key, "a store that says UIDs has it not")
	}
	if deleted {
		m.drop(c.key)
	} else {
		m.put(c.key, uid, m.reached)
	}
}

// Bookmark reports that the watch has sent all that there is.
func (m *model) Bookmark(t *rapid.T) {
	if !m.cut && m.reached > 0 {
		m.leave(t, m.filter.Bookmark(m.reached, start))
	}
}

// Cut ends the watch.
func (m *model) Cut(*rapid.T) { m.cut = true }

// Resume continues the watch from its version.
func (m *model) Resume(*rapid.T) { m.cut = false }

// List lists at any version that is not before the watch, as a lagging API server may.
func (m *model) List(t *rapid.T) {
	at := rapid.Uint64Range(m.reached, m.head()).Draw(t, "version")
	m.list(at)
}

func (m *model) list(at uint64) {
	m.filter.List(at, false)
	m.reached, m.cut = at, false
	listed := map[index.Key]bool{}
	store, uids := map[index.Key]uint64{}, map[index.Key]types.UID{}
	for key := range m.keys() {
		m.knows(key, at)
		uid, v := m.history.seen(key, at)
		if v == 0 {
			continue
		}
		listed[key] = true
		switch verdict, s := m.filter.Item(key, uid); verdict {
		case ownwrites.Pass:
			store[key], uids[key] = v, uid
		case ownwrites.Put:
			store[key], uids[key] = s.Version, s.UID
		}
	}
	for _, s := range m.filter.Rest(func(key index.Key) bool { return listed[key] }) {
		store[s.Key], uids[s.Key] = s.Version, s.UID
	}
	m.store, m.uids = store, uids
}

func (m *model) keys() map[index.Key]bool {
	keys := map[index.Key]bool{}
	for _, c := range m.history {
		keys[c.key] = true
	}
	return keys
}

// check compares the store with the known states: it has none that is older.
func (m *model) check(t *rapid.T) {
	for key := range m.keys() {
		if m.unsure[key] > m.reached {
			continue
		}
		if v, ok := m.store[key]; ok {
			c := m.history[v-1]
			require.Equal(t, key, c.key)
			require.False(t, m.killed[c.uid], "%v is that of %s, whose deletion was answered", key, c.uid)
			require.True(t, c.selected && !c.deleted, "%v at %d", key, v)
			// A later state of the key is not known yet, or is no state that the watch shows.
			require.GreaterOrEqual(t, v, m.lastOf(key, m.known[key]), "%v is in the store as it was at %d, and at %d is known", key, v, m.known[key])
			continue
		}
		absent := false
		for v := m.known[key]; v <= m.head() && !absent; v++ {
			_, of := m.history.seen(key, v)
			absent = of == 0
		}
		require.True(t, absent, "%v is missing, and %d is known", key, m.known[key])
	}
}

// lastOf returns the version of the last commit of a key up to a version.
func (m *model) lastOf(key index.Key, version uint64) uint64 {
	_, v := m.history.at(key, version)
	return v
}

// TestFilterAgainstHistory delivers the commits of a server, its answers, events, bookmarks
// and lists in every order. The store never goes back, and is the server's in the end.
func TestFilterAgainstHistory(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := &model{store: map[index.Key]uint64{}, uids: map[index.Key]types.UID{}, known: map[index.Key]uint64{}, unsure: map[index.Key]uint64{}, killed: map[types.UID]bool{}}
		for range rapid.IntRange(0, 5).Draw(t, "writes before") {
			m.Write(t)
		}
		m.list(m.head())
		t.Repeat(map[string]func(*rapid.T){
			"write": m.Write, "again": m.Write, "answer": m.Answer, "event": m.Event, "other event": m.Event,
			"bookmark": m.Bookmark, "cut": m.Cut, "resume": m.Resume, "list": m.List,
			"": m.check,
		})
		// Quiet: everything comes.
		m.Resume(t)
		for len(m.replies) > 0 {
			m.Answer(t)
			m.check(t)
		}
		for m.reached < m.head() {
			m.Event(t)
			m.check(t)
		}
		m.Bookmark(t)
		want := map[index.Key]uint64{}
		for key := range m.keys() {
			if _, v := m.history.seen(key, m.head()); v > 0 {
				want[key] = v
			}
		}
		assert.True(t, maps.Equal(want, m.store), "the server has %v, the store %v", want, m.store)
		keys, _ := m.filter.Ahead()
		assert.Zero(t, keys)
	})
}
