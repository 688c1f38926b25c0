package history_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubetyped/informer/apitest/history"
	"github.com/kubetyped/informer/index"
	"github.com/kubetyped/informer/typed"
)

type event = typed.Event[*corev1.ConfigMap]

func at(version string) *corev1.ConfigMap {
	return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "a", ResourceVersion: version}}
}

func added(obj *corev1.ConfigMap) event {
	return event{Type: index.Added, Reason: index.Watched, New: obj}
}

func updated(old, obj *corev1.ConfigMap) event {
	return event{Type: index.Updated, Reason: index.Watched, Old: old, New: obj}
}

// deleted is the deletion of old, which the server sent as obj.
func deleted(old, obj *corev1.ConfigMap) event {
	return event{Type: index.Deleted, Reason: index.Watched, Old: old, New: obj}
}

func relisted(e event) event {
	e.Reason = index.Relisted
	return e
}

func play(events ...event) *history.History[*corev1.ConfigMap] {
	h := history.New[*corev1.ConfigMap]()
	for _, e := range events {
		h.Record(e)
	}
	return h
}

// TestOwnDeletions: the answer to an own deletion has no version, so the event has the very
// object before, and no other of that version.
func TestOwnDeletions(t *testing.T) {
	v1 := at("1")
	for obj, isOwn := range map[*corev1.ConfigMap]bool{v1: true, at("1"): false} {
		h := history.New[*corev1.ConfigMap]()
		h.OwnWrites = true
		h.Record(added(v1))
		h.Record(deleted(v1, obj))
		assert.Equal(t, isOwn, h.Err() == nil)
		writes := []history.Write{{Version: "1"}, {Delete: true}}
		assert.Empty(t, h.Lost(index.KeyOf(v1), writes))
		h.OwnWrites = false
		assert.Len(t, h.Lost(index.KeyOf(v1), writes), 1, "a watched deletion has a version of its own")
	}
}

func TestEventsFollowFromOneAnother(t *testing.T) {
	v1, v2, v3, v10 := at("1"), at("2"), at("3"), at("10")
	for _, test := range []struct {
		name   string
		events []event
		err    string
	}{
		{"nothing", nil, ""},
		{"life and afterlife", []event{added(v1), updated(v1, v2), updated(v2, v10), deleted(v10, at("11")), added(at("12"))}, ""},
		{"relist without a change", []event{added(v1), relisted(updated(v1, at("1")))}, ""},
		{"added twice", []event{added(v1), added(v2)}, "ns/a@2 added, but it is there at version 1"},
		{"updated without being there", []event{updated(v1, v2)}, "ns/a@2: Updated, but it is not there"},
		{"deletion by a relist", []event{added(v1), relisted(deleted(v1, v1))}, ""},
		{"deleted without being there", []event{added(v1), deleted(v1, v2), deleted(v1, v2)}, "ns/a@2: Deleted, but it is not there"},
		{"deleted in the past", []event{added(v2), deleted(v2, v1)}, "ns/a@1: Deleted (Watched), but it was at version 2 before"},
		{"deleted at no time of its own", []event{added(v1), deleted(v1, v1)}, "it was at version 1 before"},
		{"gap before an update", []event{added(v1), updated(v2, v3)}, "the old object is ns/a@2 and the one before was ns/a@1"},
		{"gap before a deletion that was watched", []event{added(v1), deleted(at("1"), v2)}, "the old object is ns/a@1 and the one before was ns/a@1"},
		{"gap before a deletion", []event{added(v1), relisted(deleted(at("1"), at("1")))}, "the old object is ns/a@1 and the one before was ns/a@1"},
		{"back", []event{added(v10), updated(v10, v3)}, "ns/a@3: Updated (Watched), but it was at version 10 before"},
		{"back by a relist", []event{added(v10), relisted(updated(v10, v3))}, "it was at version 10 before"},
		{"twice", []event{added(v1), updated(v1, at("1"))}, "it was at version 1 before"},
		{"no version", []event{added(v1), updated(v1, at("new"))}, "ns/a@new"},
	} {
		t.Run(test.name, func(t *testing.T) {
			err := play(test.events...).Err()
			if test.err == "" {
				assert.NoError(t, err)
			} else {
				assert.ErrorContains(t, err, test.err)
			}
		})
	}
}

func TestManyErrors(t *testing.T) {
	h := play()
	for range 25 {
		h.OnDelete(typed.Deleted[*corev1.ConfigMap]{Object: at("1")})
	}
	assert.ErrorContains(t, h.Err(), "and 15 more")
}

func TestHandler(t *testing.T) {
	v1, v2 := at("1"), at("2")
	h := play()
	h.OnAdd(v1, true)
	h.OnUpdate(v1, v2)
	assert.Equal(t, []*corev1.ConfigMap{v2}, h.Objects())
	got, ok := h.Get(index.KeyOf(v1))
	assert.True(t, ok)
	assert.Same(t, v2, got)
	h.OnDelete(typed.Deleted[*corev1.ConfigMap]{Object: at("3"), Reason: index.Watched})
	assert.Empty(t, h.Objects())
	assert.NoError(t, h.Err())
	events, _ := h.Events()
	assert.Equal(t, 3, events)
}

func TestLost(t *testing.T) {
	v1, v2, v3, v4 := at("1"), at("2"), at("3"), at("4")
	other := func(version string) event { // of another object
		obj := at(version)
		obj.Name = "b"
		return relisted(updated(obj, obj))
	}
	w := func(versions ...string) (writes []history.Write) {
		for _, v := range versions {
			writes = append(writes, history.Write{Version: v, Delete: v == ""})
		}
		return writes
	}
	for _, test := range []struct {
		name   string
		events []event
		writes []history.Write
		lost   []string
	}{
		{"nothing", nil, nil, nil},
		{"all told", []event{added(v1), updated(v1, v2), deleted(v2, v3), added(v4)}, w("1", "2", "", "4"), nil},
		{"the first", []event{added(v2)}, w("1", "2"), []string{"ns/a: version 1"}},
		{"the last", []event{added(v1)}, w("1", "2"), []string{"ns/a: version 2"}},
		{"the last, by a relist", []event{added(v1), other("1")}, w("1", "2"), nil},
		{"the deletion at the end", []event{added(v1)}, w("1", ""), []string{"ns/a: the deletion after version 1"}},
		{"the deletion at the end, by a relist", []event{added(v1), other("1")}, w("1", ""), nil},
		{"in the middle", []event{added(v1), updated(v1, v3)}, w("1", "2", "3"), []string{"ns/a: version 2"}},
		{"in the middle, by a relist", []event{added(v1), relisted(updated(v1, v3)), updated(v3, v4)}, w("1", "2", "3", "4"), nil},
		{"after a relist", []event{added(v1), relisted(updated(v1, v1)), updated(v1, v2), updated(v2, v4)}, w("1", "2", "3", "4"), []string{"ns/a: version 3"}},
		{"before a relist", []event{added(v1), updated(v1, v3), relisted(updated(v3, v3))}, w("1", "2", "3"), []string{"ns/a: version 2"}},
		{"deleted and made again", []event{added(v1), updated(v1, v3)}, w("1", "", "3"), []string{"ns/a: the deletion after version 1"}},
		{"deleted and made again, by a relist", []event{added(v1), relisted(updated(v1, v3))}, w("1", "", "3"), nil},
		{"a whole life", []event{added(v1), deleted(v1, v2), added(at("5"))}, w("1", "", "3", "", "5"),
			[]string{"ns/a: version 3", "ns/a: the deletion after version 3"}},
		{"a whole life, by a relist", []event{added(v1), deleted(v1, v2), other("1"), added(at("5"))}, w("1", "", "3", "", "5"), nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			assert.Equal(t, test.lost, play(test.events...).Lost(index.KeyOf(v1), test.writes))
		})
	}
}

func TestDiff(t *testing.T) {
	other := at("1")
	other.Name = "b"
	changed := at("1")
	changed.Data = map[string]string{"k": "v"}
	diff := func(want, got []*corev1.ConfigMap) []string { return history.Diff("server", want, "cache", got) }
	type objects = []*corev1.ConfigMap
	assert.Empty(t, diff(objects{at("1"), other}, objects{other, at("1")}))
	assert.Equal(t, []string{"ns/a@1: only in server", "ns/b@1: only in cache"}, diff(objects{at("1")}, objects{other}))
	assert.Equal(t, []string{"ns/a: version 1 in server, 2 in cache"}, diff(objects{at("1")}, objects{at("2")}))
	assert.Equal(t, []string{"ns/a@1: different contents in server and cache"}, diff(objects{at("1")}, objects{changed}))
}

func TestUndead(t *testing.T) {
	withUID := func(version, uid string) *corev1.ConfigMap {
		obj := at(version)
		obj.UID = types.UID(uid)
		return obj
	}
	type objects = []*corev1.ConfigMap
	first, last := withUID("1", "a"), withUID("3", "a")
	h := play(added(first), relisted(deleted(first, last)))
	assert.Equal(t, []string{"ns/a@4: it was told of as deleted at version 3"}, h.Undead(objects{withUID("4", "a")}))
	assert.Empty(t, h.Undead(nil), "it is gone")
	assert.Empty(t, h.Undead(objects{withUID("4", "b")}), "another object of that name")

	out := deleted(first, last)
	out.Reason = index.OutOfScope
	assert.Empty(t, play(added(first), out).Undead(objects{last}), "it is somewhere else")
	assert.Empty(t, play(added(at("1")), deleted(at("1"), at("2"))).Undead(objects{at("2")}), "no UID")
}
