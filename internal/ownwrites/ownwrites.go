// Package ownwrites decides what becomes of the answers that an API server gives to a
// program's own writes, and of what one watch reports of the same objects, so that a store
// has what was written at once and never goes back. It is a state machine: it knows no
// HTTP, has no clock and no lock, and passes nothing on by itself.
package ownwrites

import (
	"cmp"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/kubetyped/informer/index"
	"github.com/kubetyped/informer/internal/container"
)

// Patience is how long a watch that reports may take to reach what was answered, or to
// have an answered deletion behind it. After that, another list decides.
const Patience = 5 * time.Minute

// State is a state of an object that was answered to a write.
type State[T any] struct {
	Key     index.Key
	UID     types.UID
	Version uint64
	Object  T
	// Created reports that the write made the object, and so a version that is later than all
	// that was answered before it began. One that changes nothing is answered an old one.
	Created bool
	// Outside reports that the selector of the watch does not select this state.
	Outside bool
	// Held reports that the state answers a deletion that finalizers or a grace period hold
	// up. Its contents may be old, and its version made up: it counts only for the
	// object of its UID, and each later deletion wins.
	Held bool
	// Unsure reports that the store may not have taken a state that is Held.
	Unsure bool
}

// Verdict is what becomes of a report.
type Verdict uint8

const (
	// Nothing goes down: the store has it, or something later. The version still counts.
	Nothing Verdict = iota
	// Pass: the report goes down as it is.
	Pass
	// Put: the state goes down, if Held under the condition of its UID.
	Put
	// Remove: the object of the UID goes, and no other of its key.
	Remove
	// Leave: the watch does not select the object of the key.
	Leave
	// Gone: a deletion that was answered. The store has the object only if it does not know
	// its UID.
	Gone
)

// entry is what the filter remembers of a key while the watch is behind it.
type entry[T any] struct {
	State[T]
	since   time.Time
	sure    uint64 // version of the last state of the key that was not Held
	died    bool   // its deletion was answered
	overdue bool   // the watch has not reached it for too long
}

// yields reports whether a list without the object may be later than its deletion.
func (e *entry[T]) yields(reached uint64) bool { return e.Held && e.sure <= reached }

// death is an answered deletion. Nothing of its UID is passed on any more.
type death struct {
	write uint64 // the number of writes that had begun when it was answered
	since time.Time
}

// grave is a death with a version after the deletion.
type grave struct {
	until uint64
	uid   types.UID
}

// Filter stands between one list and watch and the store. Call its methods in the order in
// which their results take effect. Its zero value is ready for use.
type Filter[T any] struct {
	reached  uint64 // the version that the watch has reported, W in the rules
	listed   bool
	entries  map[index.Key]entry[T]
	dead     map[types.UID]death
	waiting  []types.UID // of the dead those that no version is known after
	graves   []grave     // of the others, by version, ascending; those that are not dead any more are skipped
	oldest   time.Time   // of entries and deaths; zero: there are none
	looked   time.Time   // when expire last looked at all of them
	versions []version   // of entries, ascending; those that are not entries any more are skipped
	relist   bool        // what was answered too long ago is left to a list

	mostEntries, mostDead int // for container.ShrinkMap
}

// version is that of an entry.
type version struct {
	of  uint64
	key index.Key
}

// Ahead returns how many keys the store has ahead of the watch, and the highest of their
// versions.
func (f *Filter[T]) Ahead() (keys int, highest uint64) {
	for n := len(f.versions); n > 0 && highest == 0; n-- {
		if f.isCurrent(f.versions[n-1]) {
			highest = f.versions[n-1].of
		}
	}
	return len(f.entries), highest
}

func (f *Filter[T]) isCurrent(v version) bool {
	e, ok := f.entries[v.key]
	return ok && e.Version == v.of
}

func (f *Filter[T]) isDead(uid types.UID) bool {
	_, dead := f.dead[uid]
	return dead
}

// Remembers reports whether the filter has anything to look at when the watch reports.
func (f *Filter[T]) Remembers() bool { return len(f.entries) > 0 || len(f.dead) > 0 }

// Answered takes the state that was answered to a write: Put and Leave go down now. Write is
// its number, in the order in which writes have begun.
func (f *Filter[T]) Answered(s State[T], write uint64, now time.Time) Verdict {
	if s.Created {
		f.bound(write, s.Version)
	}
	if f.listed && s.Version <= f.reached {
		return Nothing
	}
	if e, ok := f.entries[s.Key]; ok && s.Version <= e.Version {
		if !s.Held {
			e.sure = max(e.sure, s.Version)
			f.entries[s.Key] = e
		}
		return Nothing
	}
	if f.isDead(s.UID) {
		s.Outside, s.Held = true, false // it is gone, and so is what was there before it
	}
	f.remember(s, now)
	switch {
	case !f.listed:
		return Nothing // the first list takes it in
	case s.Outside:
		return Leave
	}
	return Put
}

// bound notes a version that is later than all deletions that were answered before a write
// began.
func (f *Filter[T]) bound(write, until uint64) {
	f.waiting = slices.DeleteFunc(f.waiting, func(uid types.UID) bool {
		d, ok := f.dead[uid]
		if !ok || write <= d.write {
			return !ok
		}
		i, _ := slices.BinarySearchFunc(f.graves, until, func(g grave, of uint64) int { return cmp.Or(cmp.Compare(g.until, of), -1) }) // after equals
		f.graves = slices.Insert(f.graves, i, grave{until, uid})
		return true
	})
	f.bury()
	f.shrink()
}

// remember makes a state that of its key.
func (f *Filter[T]) remember(s State[T], now time.Time) {
	if f.entries == nil {
		f.entries = map[index.Key]entry[T]{}
	}
	e := entry[T]{State: s, since: now, sure: s.Version}
	if s.Held {
		e.sure = f.entries[s.Key].sure
	}
	f.entries[s.Key] = e
	f.mostEntries = max(f.mostEntries, len(f.entries))
	f.age(now)
	i, _ := slices.BinarySearchFunc(f.versions, s.Version, func(v version, of uint64) int { return cmp.Compare(v.of, of) })
	f.versions = slices.Insert(f.versions, i, version{s.Version, s.Key})
}

// age notes when something was answered that is remembered.
func (f *Filter[T]) age(now time.Time) {
	if f.oldest.IsZero() || now.Before(f.oldest) {
		f.oldest = now
	}
}

// AnsweredDeletion takes the answer that an object is deleted: Remove goes down now. Such
// answers do not have the version of the deletion. Begun is how many writes had begun when it
// came.
func (f *Filter[T]) AnsweredDeletion(key index.Key, uid types.UID, begun uint64, now time.Time) Verdict {
	if f.dead == nil {
		f.dead = map[types.UID]death{}
	}
	if f.isDead(uid) {
		return Nothing
	}
	f.dead[uid] = death{write: begun, since: now}
	f.mostDead = max(f.mostDead, len(f.dead))
	f.waiting = append(f.waiting, uid)
	f.age(now)
	if e, ok := f.entries[key]; ok && e.UID == uid {
		// An object that was there before is still left out, unless the store may have it.
		e.Outside, e.Held, e.died = true, e.Held && e.Unsure, true
		f.entries[key] = e
	}
	if !f.listed {
		return Nothing
	}
	return Remove
}

// Watched takes a change that the watch reports, or that it could not make use of. It
// returns Pass or Nothing; and the keys that have to leave, since the watch is past what was
// answered and has not said a word of them.
func (f *Filter[T]) Watched(key index.Key, uid types.UID, deleted bool, version uint64, now time.Time) (Verdict, []index.Key) {
	verdict := f.judge(key, uid, deleted, version)
	if e, ok := f.entries[key]; ok && e.Version <= version {
		delete(f.entries, key)
	}
	return verdict, f.reach(version, version-1, now)
}

func (f *Filter[T]) judge(key index.Key, uid types.UID, deleted bool, version uint64) Verdict {
	dead := f.isDead(uid)
	e, ok := f.entries[key]
	if e.Held && uid != "" && uid != e.UID && version > e.sure {
		delete(f.entries, key) // the state does not count for this object
		ok = false
	}
	switch {
	case ok && e.Held && deleted && e.UID == uid && version > e.sure && !dead:
		delete(f.entries, key)
		return Pass
	case ok && (e.Version > version || e.Version == version && !e.Unsure), dead && !deleted:
		return Nothing
	case dead:
		return Gone
	}
	return Pass
}

// Bookmark takes the report that nothing else has changed up to a version. It returns the
// keys that have to leave, as Watched does.
func (f *Filter[T]) Bookmark(version uint64, now time.Time) []index.Key {
	return f.reach(version, version, now)
}

// reach moves the version of the watch, and returns the keys of entries up to another
// version, which the watch would have reported if they were among what is watched.
func (f *Filter[T]) reach(version, silent uint64, now time.Time) (gone []index.Key) {
	f.reached = max(f.reached, version)
	n := 0
	for ; n < len(f.versions) && f.versions[n].of <= silent; n++ {
		v := f.versions[n]
		if f.isCurrent(v) {
			if e := f.entries[v.key]; !e.Outside || e.died { // the store may not have known its UID
				gone = append(gone, v.key)
			}
			delete(f.entries, v.key)
		}
	}
	f.versions = without(f.versions, n)
	f.bury()
	f.expire(now)
	f.shrink()
	return gone
}

// without returns a list without its first n elements, and does not move the others.
func without[E any](list []E, n int) []E {
	clear(list[:n])
	if n == len(list) {
		return nil
	}
	return list[n:]
}

// bury forgets the deletions that the watch has behind it.
func (f *Filter[T]) bury() {
	n := 0
	for ; n < len(f.graves) && f.graves[n].until <= f.reached; n++ {
		delete(f.dead, f.graves[n].uid)
	}
	f.graves = without(f.graves, n)
}

// expire is called while the watch reports. It looks at all that is remembered, so it does that
// at most once in five seconds.
func (f *Filter[T]) expire(now time.Time) {
	if f.oldest.IsZero() || now.Sub(f.oldest) < Patience || now.Sub(f.looked) < Patience/60 {
		return
	}
	f.oldest, f.looked = time.Time{}, now
	for uid, d := range f.dead {
		if now.Sub(d.since) >= Patience {
			delete(f.dead, uid)
		} else {
			f.age(d.since)
		}
	}
	f.waiting = slices.DeleteFunc(f.waiting, func(uid types.UID) bool { return !f.isDead(uid) })
	for key, e := range f.entries {
		if now.Sub(e.since) >= Patience {
			e.overdue, f.relist = true, true
			f.entries[key] = e
		}
		f.age(e.since)
	}
}

// shrink gives back memory after entries and deaths were forgotten.
func (f *Filter[T]) shrink() {
	entries, dead := f.mostEntries, f.mostDead
	if f.entries = container.ShrinkMap(f.entries, &f.mostEntries); f.mostEntries < entries {
		f.versions = compact(f.versions, f.isCurrent)
	}
	if f.dead = container.ShrinkMap(f.dead, &f.mostDead); f.mostDead < dead {
		f.waiting = compact(f.waiting, f.isDead)
		f.graves = compact(f.graves, func(g grave) bool { return f.isDead(g.uid) })
	}
}

// compact returns a new list of the elements that are kept.
func compact[E any](list []E, kept func(E) bool) (all []E) {
	for _, e := range list {
		if kept(e) {
			all = append(all, e)
		}
	}
	return all
}

// Relist reports whether the objects have to be listed again, since the watch reports and has
// not reached an old answer.
func (f *Filter[T]) Relist() bool { return f.relist }

// List begins a list. Unbound reports that it was asked for without a version. Item follows
// for each of its objects, then Rest.
func (f *Filter[T]) List(version uint64, unbound bool) {
	if unbound && version < f.reached { // of another history: etcd was restored
		clear(f.entries)
		clear(f.dead)
		f.versions, f.waiting, f.graves, f.reached = nil, nil, nil, version
	}
	for key, e := range f.entries {
		if e.Version <= version || e.overdue {
			delete(f.entries, key)
		}
	}
	f.relist = false
	f.reached, f.listed = max(f.reached, version), true
	f.bury()
	f.shrink()
}

// Item decides on an object of the list: it is passed, or left out, or the state that is
// returned takes its place.
func (f *Filter[T]) Item(key index.Key, uid types.UID) (Verdict, State[T]) {
	switch e, ok := f.entries[key]; {
	case !ok:
	case e.UID != uid && e.yields(f.reached):
		delete(f.entries, key)
	case e.Outside:
		return Nothing, State[T]{}
	default:
		return Put, e.State
	}
	if f.isDead(uid) {
		return Nothing, State[T]{}
	}
	return Pass, State[T]{}
}

// Rest returns the states that the list, whose keys has reports, is too old to have.
func (f *Filter[T]) Rest(has func(index.Key) bool) (rest []State[T]) {
	for key, e := range f.entries {
		switch {
		case e.Outside || has(key):
		case e.yields(f.reached):
			delete(f.entries, key)
		default:
			rest = append(rest, e.State)
		}
	}
	f.shrink()
	return rest
}
