package index

import "iter"

// set is a set of positions: those of matches, of a union, or of which a function holds.
type set struct {
	matches                   // size is how many positions all looks at
	parts   []set             // not nil: of a union
	holds   func(uint32) bool // not nil: of the positions below size
}

// unionOf returns the set of positions that are in any of parts.
func unionOf(parts []set) set {
	u := set{parts: parts}
	for i := range parts {
		u.size += parts[i].size
	}
	return u
}

// setWhere returns the set of positions of objects for which holds reports true.
func setWhere(objects uint32, holds func(pos uint32) bool) set {
	s := set{holds: holds}
	s.size = int(objects)
	return s
}

func (s *set) has(pos uint32) bool {
	switch {
	case s.holds != nil:
		return s.holds(pos)
	case s.parts != nil:
		return isInOne(s.parts, pos)
	default:
		return s.isIn(pos, len(s.ids))
	}
}

func isInOne(sets []set, pos uint32) bool {
	for i := range sets {
		if sets[i].has(pos) {
			return true
		}
	}
	return false
}

// all ranges over the positions, each once.
func (s *set) all() iter.Seq[uint32] {
	switch {
	case s.holds != nil:
		return s.allWhere
	case s.parts != nil:
		return s.allOfParts
	default:
		return s.matches.all()
	}
}

func (s *set) allWhere(yield func(uint32) bool) {
	for pos := range uint32(s.size) {
		if s.holds(pos) && !yield(pos) {
			return
		}
	}
}

func (s *set) allOfParts(yield func(uint32) bool) {
	for i := range s.parts {
		for pos := range s.parts[i].all() {
			if !isInOne(s.parts[:i], pos) && !yield(pos) {
				return
			}
		}
	}
}
