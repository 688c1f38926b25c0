package view

import (
	"fmt"
	"slices"

	"github.com/kubetyped/informer/index"
)

// arrangement is the stage of a Lookup: the rows of a table by a key, in groups that are
// numbered. A number belongs to one key while the group has rows or is held.
type arrangement[K comparable, T index.Object] struct {
	name   string
	in     *table[T]
	keys   Keys[K, T]
	groups []group
	held   []int32 // by group: how many depend on it
	keyOf  []K     // by group
	byKey  map[K]uint32
	of     []rowSet // by row of in: its groups

	touched []uint32 // groups of which a row has come, changed or gone in this step
	free    []uint32
	empty   []uint32 // groups that may be empty at the end of the step
	scratch []uint32
	faults  faults[uint32] // by row of in
	why     causes[uint32] // by group: why its rows have changed in this step
	program *program
}

// letGo ends one hold on a group: what holds it counts in held.
func (a *arrangement[K, T]) letGo(at uint32) {
	a.held[at]--
	a.mayBeEmpty(at)
}

func (a *arrangement[K, T]) mayBeEmpty(at uint32) {
	if a.held[at] == 0 && len(a.groups[at].rows) == 0 {
		a.empty = append(a.empty, at)
	}
}

func (a *arrangement[K, T]) make(key K) uint32 {
	at, ok := a.byKey[key]
	if ok {
		return at
	}
	if n := len(a.free); n > 0 {
		at = a.free[n-1]
		a.free = a.free[:n-1]
		a.keyOf[at] = key
	} else {
		at = uint32(len(a.groups))
		a.groups = append(a.groups, group{})
		a.held = append(a.held, 0)
		a.keyOf = append(a.keyOf, key)
	}
	a.byKey[key] = at
	a.empty = append(a.empty, at) // it is, until something is added
	return at
}

// step implements stage.
func (a *arrangement[K, T]) step() {
	a.of = grown(a.of, len(a.in.objects))
	for i := range a.in.changes {
		c := &a.in.changes[i]
		now := a.scratch[:0]
		var err error
		if !isNone(c.now) {
			now, err = a.groupsFor(now, c.now)
		}
		if err != nil {
			a.faults.fail(a.program, c.row, fault{key: index.KeyOf(c.now), err: fmt.Errorf("view %s: %w", a.name, err)})
			a.of[c.row].each(func(at uint32) { now = append(now, at) })
		} else {
			a.faults.repair(a.program, c.row)
		}
		a.scratch = now
		a.move(c, now)
	}
	for _, at := range a.touched {
		tidy(&a.groups[at], a.in, func(row uint32) bool { return a.of[row].has(at) })
		a.mayBeEmpty(at)
	}
}

// groupsFor appends the groups that an object belongs to.
func (a *arrangement[K, T]) groupsFor(dst []uint32, obj T) (_ []uint32, err error) {
	defer recoverTo(&err)
	a.keys.all(obj, func(key K) {
		if at := a.make(key); !slices.Contains(dst, at) {
			dst = append(dst, at)
		}
	})
	return dst, nil
}

// move puts the row of a change into the given groups, and takes it out of all others.
func (a *arrangement[K, T]) move(c *change[T], now []uint32) {
	of := &a.of[c.row]
	renamed := isRenamed(c)
	of.each(func(at uint32) {
		a.touch(at)
		a.why.note(at, c.reason)
		if !slices.Contains(now, at) {
			a.groups[at].lost = true
			of.remove(at)
		} else if renamed {
			a.groups[at].shuffle = true
		}
	})
	for _, at := range now {
		if !of.has(at) {
			of.add(at)
			a.groups[at].add(c.row)
			a.touch(at)
			a.why.note(at, c.reason)
		}
	}
}

func (a *arrangement[K, T]) touch(at uint32) {
	if g := &a.groups[at]; !g.touched {
		g.touched = true
		a.touched = append(a.touched, at)
	}
}

// settle implements stage.
func (a *arrangement[K, T]) settle() {
	for _, at := range a.touched {
		a.groups[at].touched = false
	}
	a.touched = kept(a.touched)
	a.why.forget()
	for _, at := range a.empty {
		key := a.keyOf[at]
		if found, ok := a.byKey[key]; !ok || found != at || a.held[at] > 0 || len(a.groups[at].rows) > 0 {
			continue // it was noted twice, or is not empty
		}
		delete(a.byKey, key)
		var none K
		a.keyOf[at] = none
		a.groups[at] = group{}
		a.free = append(a.free, at)
	}
	a.empty = kept(a.empty)
}

// grown returns a slice with zero entries added to it until it has n.
func grown[E any](s []E, n int) []E {
	if n <= len(s) {
		return s
	}
	return append(s, make([]E, n-len(s))...)
}

// kept returns a slice without entries, and without memory if that is large.
func kept[E any](s []E) []E {
	if cap(s) > maxKept {
		return nil
	}
	return s[:0]
}
