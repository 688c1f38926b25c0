package ownwrites_test

import (
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubetyped/informer/index"
	"github.com/kubetyped/informer/internal/ownwrites"
)

var (
	a     = index.Key{Namespace: "shop", Name: "a"}
	start = time.Unix(0, 0)
)

type filter = ownwrites.Filter[string]

// writes counts those that have begun.
var writes uint64

func begin() uint64 {
	writes++
	return writes
}

func state(uid types.UID, version uint64) ownwrites.State[string] {
	return ownwrites.State[string]{Key: a, UID: uid, Version: version}
}

// at returns a filter whose watch has reported all up to a version.
func at(version uint64) *filter {
	f := &filter{}
	f.List(version, false)
	return f
}

// a step of a sequence, and its result.
type step struct {
	do   func(f *filter) any
	want any
}

func answer(s ownwrites.State[string], want ownwrites.Verdict) step {
	return step{func(f *filter) any { return f.Answered(s, begin(), start) }, want}
}

func deleted(uid types.UID, want ownwrites.Verdict) step {
	return step{func(f *filter) any { return f.AnsweredDeletion(a, uid, writes, start) }, want}
}

func watched(uid types.UID, version uint64, want ownwrites.Verdict) step {
	return step{func(f *filter) any { v, _ := f.Watched(a, uid, false, version, start); return v }, want}
}

func watchedDeletion(uid types.UID, version uint64, want ownwrites.Verdict) step {
	return step{func(f *filter) any { v, _ := f.Watched(a, uid, true, version, start); return v }, want}
}

func bookmark(version uint64, leave ...index.Key) step {
	return step{func(f *filter) any { return f.Bookmark(version, start) }, leave}
}

// list is one with the object, or without it if uid is "".
func list(version uint64, uid types.UID, want ownwrites.Verdict) step {
	return step{func(f *filter) any {
		f.List(version, false)
		if uid != "" {
			v, _ := f.Item(a, uid)
			return v
		}
		if rest := f.Rest(func(index.Key) bool { return false }); len(rest) > 0 {
			return ownwrites.Put
		}
		return ownwrites.Nothing
	}, want}
}

// TestSequences runs sequences of events of one key, from a watch at version 100.
func TestSequences(t *testing.T) {
	const nothing, pass, put, remove, leave, gone = ownwrites.Nothing, ownwrites.Pass, ownwrites.Put, ownwrites.Remove, ownwrites.Leave, ownwrites.Gone
	outside := state("U1", 105)
	outside.Outside = true
	held := state("U1", 105)
	held.Held = true
	for name, steps := range map[string][]step{
		"an update": {
			answer(state("U1", 105), put), watched("U1", 103, nothing), watched("U1", 105, nothing), watchedDeletion("U1", 110, pass),
		},
		"an answer that a deletion overtakes": {
			watched("U1", 105, pass), watchedDeletion("U1", 110, pass), answer(state("U1", 105), nothing),
		},
		"an answer that another object overtakes": {
			watchedDeletion("U1", 107, pass), watched("U2", 109, pass), answer(state("U1", 105), nothing),
		},
		"a list that is older than a creation": {
			answer(state("U1", 105), put), list(101, "", put), watched("U1", 105, nothing), bookmark(106),
		},
		"a list that is later than a creation": {
			answer(state("U1", 105), put), list(112, "", nothing), bookmark(113),
		},
		"answers in another order": {
			answer(state("U1", 107), put), answer(state("U1", 105), nothing),
		},
		"a deletion": {
			deleted("U1", remove), watched("U1", 103, nothing), watchedDeletion("U1", 110, gone), watched("U2", 112, pass),
		},
		"a deletion that the watch overtakes": {
			watchedDeletion("U1", 110, pass), watched("U2", 112, pass), deleted("U1", remove), watched("U2", 113, pass),
		},
		"a deletion that is answered before the creation": {
			deleted("U1", remove), answer(state("U1", 105), leave), watched("U1", 105, nothing), watchedDeletion("U1", 106, gone),
		},
		"an object that had left the selector": {
			answer(state("U1", 105), put), watchedDeletion("U1", 103, nothing), watched("U1", 105, nothing),
		},
		"an object that leaves the selector": {
			answer(outside, leave), watched("U1", 103, nothing), list(104, "U1", nothing), watchedDeletion("U1", 105, nothing), watched("U1", 108, pass),
		},
		"a list that was begun before": {
			answer(state("U1", 105), put), list(101, "U1", put),
		},
		"an object of which the watch does not say a word": {
			answer(state("U1", 105), put), bookmark(104), bookmark(105, a), bookmark(106),
		},
		"a deletion that a finalizer holds up, with a version that is made up": {
			answer(held, put), watchedDeletion("U1", 102, pass), watched("U2", 103, pass),
		},
		"a deletion that a finalizer holds up, and a list after it": {
			answer(held, put), list(101, "", nothing), watchedDeletion("U1", 102, pass), watched("U2", 103, pass),
		},
		"a list that is older than an object whose deletion a finalizer holds up": {
			answer(held, put), list(101, "", nothing), watched("U1", 103, pass), watched("U1", 105, pass),
		},
		"a list of an older object": {
			answer(held, put), list(101, "U0", pass), watchedDeletion("U0", 102, pass), watched("U1", 103, pass), watched("U1", 105, pass),
		},
		"a list that is older than a creation and a deletion that a finalizer holds up": {
			answer(state("U1", 103), put), answer(held, put), list(101, "U0", put), list(102, "", put), watched("U1", 105, nothing),
		},
		"a deletion that was listed already": {
			deleted("U1", remove), list(101, "U1", nothing), list(102, "U2", pass),
		},
	} {
		t.Run(name, func(t *testing.T) {
			f := at(100)
			for i, s := range steps {
				got := s.do(f)
				if keys, ok := got.([]index.Key); ok && len(keys) == 0 {
					assert.Empty(t, s.want, "step %d", i)
					continue
				}
				assert.Equal(t, s.want, got, "step %d", i)
			}
		})
	}
}

// TestAnotherKeyPasses: an event of another key shows that nothing has come of the first.
func TestAnotherKeyPasses(t *testing.T) {
	f := at(100)
	f.Answered(state("U1", 105), begin(), start)
	b := index.Key{Namespace: "shop", Name: "b"}
	_, gone := f.Watched(b, "B", false, 105, start)
	assert.Empty(t, gone, "the one of this version may still come")
	_, gone = f.Watched(b, "B", false, 106, start)
	assert.Equal(t, []index.Key{a}, gone)
	assert.False(t, f.Remembers())
}

// TestDeletionsAreForgotten when the watch is surely past them, or after a time.
func TestDeletionsAreForgotten(t *testing.T) {
	f := at(100)
	early := begin()
	f.AnsweredDeletion(a, "U1", writes, start)
	created := state("U2", 105)
	created.Key.Name, created.Created = "b", true
	f.Answered(created, early, start)
	f.Watched(created.Key, "U2", false, 105, start)
	assert.True(t, f.Remembers(), "the write had begun before")
	unchanged := state("U3", 90)
	unchanged.Key.Name = "c"
	f.Answered(unchanged, begin(), start)
	assert.True(t, f.Remembers(), "a write without an effect has an old version")
	created.UID, created.Version = "U4", 111
	f.Answered(created, begin(), start)
	v, _ := f.Watched(a, "U1", false, 107, start)
	assert.Equal(t, ownwrites.Nothing, v)
	f.Watched(created.Key, "U4", false, 111, start)
	assert.False(t, f.Remembers())

	f.AnsweredDeletion(a, "U5", writes, start)
	f.Bookmark(120, start.Add(ownwrites.Patience-1))
	assert.True(t, f.Remembers())
	f.Bookmark(121, start.Add(ownwrites.Patience))
	assert.False(t, f.Remembers())
}

// TestManyDeletions: those that are forgotten leave no memory behind, even if the program creates
// nothing; and old ones are looked for once in some seconds, not with each report.
func TestManyDeletions(t *testing.T) {
	f := at(100)
	forget := func(late time.Duration) {
		f.Bookmark(101, start.Add(ownwrites.Patience+late))
	}
	for i := range 1000 {
		f.AnsweredDeletion(a, types.UID(fmt.Sprint(i)), writes, start)
	}
	f.AnsweredDeletion(a, "later", writes, start.Add(time.Second))
	assert.Equal(t, 1001, f.Awaiting())
	forget(0)
	assert.Equal(t, 1, f.Awaiting())
	forget(time.Second)
	assert.True(t, f.Remembers(), "it has looked a second ago")
	forget(ownwrites.Patience / 60)
	assert.False(t, f.Remembers())
	assert.Zero(t, f.Awaiting())
}

// TestCostOfALateWatch: to catch up costs no more than some times what the answers did.
func TestCostOfALateWatch(t *testing.T) {
	states := make([]ownwrites.State[string], 40_000)
	for i := range states {
		states[i] = state(types.UID(fmt.Sprint("U", i)), uint64(101+2*i))
		states[i].Key.Name, states[i].Created = fmt.Sprint(i), true
	}
	for _, deletes := range []bool{false, true} {
		least := math.Inf(1) // of some times, since other programs may run as well
		for range 3 {
			f := at(100)
			begun := time.Now()
			for _, s := range states {
				f.Answered(s, begin(), start)
				if deletes {
					f.AnsweredDeletion(s.Key, s.UID, begin(), start)
				}
			}
			answered := time.Since(begun)
			begun = time.Now()
			for _, s := range states {
				f.Watched(s.Key, s.UID, false, s.Version, start)
				if deletes {
					f.Watched(s.Key, s.UID, true, s.Version+1, start)
				}
			}
			least = min(least, time.Since(begun).Seconds()/answered.Seconds())
		}
		assert.Less(t, least, 5.0, "with deletions: %v", deletes)
	}
}

// TestRelist: if the watch reports and does not get there, a list decides.
func TestRelist(t *testing.T) {
	f := at(100)
	f.Answered(state("U1", 500), begin(), start)
	f.Bookmark(101, start.Add(ownwrites.Patience-1))
	assert.False(t, f.Relist())
	f.Bookmark(102, start.Add(ownwrites.Patience))
	assert.True(t, f.Relist())
	f.List(103, false)
	assert.False(t, f.Relist())
	assert.Empty(t, f.Rest(func(index.Key) bool { return false }))
	assert.False(t, f.Remembers())
}

// TestRelistKeepsObjectsBeforeTheyAreOverdue: the list decides on the old answer alone, and takes back
// no other.
func TestRelistKeepsObjectsBeforeTheyAreOverdue(t *testing.T) {
	f := at(100)
	f.Answered(state("U1", 500), begin(), start)
	late := state("U2", 130)
	late.Key.Name = "b"
	f.Answered(late, begin(), start.Add(ownwrites.Patience-1))
	f.Bookmark(102, start.Add(ownwrites.Patience))
	f.List(103, false)
	assert.Equal(t, []ownwrites.State[string]{late}, f.Rest(func(index.Key) bool { return false }))
	f.Bookmark(104, start.Add(ownwrites.Patience+1))
	assert.False(t, f.Relist())
}

// TestAnotherHistory: a list that goes back, though it was not asked to, holds.
func TestAnotherHistory(t *testing.T) {
	f := at(100)
	f.Answered(state("U1", 105), begin(), start)
	f.AnsweredDeletion(a, "U2", writes, start)
	f.List(40, true)
	v, _ := f.Item(a, "U2")
	assert.Equal(t, ownwrites.Pass, v)
	assert.False(t, f.Remembers())
	v, _ = f.Watched(a, "U2", false, 41, start)
	assert.Equal(t, ownwrites.Pass, v)
	assert.Equal(t, ownwrites.Put, f.Answered(state("U2", 42), begin(), start), "versions begin anew")
}

// TestBeforeTheFirstList: what was answered is taken in by the list.
func TestBeforeTheFirstList(t *testing.T) {
	f := &filter{}
	assert.Equal(t, ownwrites.Nothing, f.Answered(state("U1", 105), begin(), start))
	assert.Equal(t, ownwrites.Nothing, f.AnsweredDeletion(a, "U0", writes, start))
	keys, highest := f.Ahead()
	assert.Equal(t, 1, keys)
	assert.EqualValues(t, 105, highest)
	f.List(100, false)
	rest := f.Rest(func(index.Key) bool { return false })
	assert.Equal(t, []ownwrites.State[string]{state("U1", 105)}, rest)
}
