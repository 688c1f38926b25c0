package container

// Map is a map that gives memory back in steps, none of which takes long, however many
// keys there are. Its zero value is empty and ready for use.
type Map[K comparable, V any] struct {
	m, old map[K]*V // old: the keys that have not moved to m yet; nil if none move
	most   int      // the largest Len since m was made
}

// Len returns how many keys there are.
func (s *Map[K, V]) Len() int { return len(s.m) + len(s.old) }

// Get returns the value of a key, nil if there is none.
func (s *Map[K, V]) Get(key K) *V {
	v := s.m[key]
	if v == nil && s.old != nil {
		v = s.old[key]
	}
	return v
}

// Put sets the value of a key.
func (s *Map[K, V]) Put(key K, v *V) {
	if s.m == nil {
		s.m = map[K]*V{}
	}
	if s.old != nil {
		delete(s.old, key)
	}
	s.m[key] = v
	s.most = max(s.most, s.Len())
}

// Delete removes a key.
func (s *Map[K, V]) Delete(key K) {
	delete(s.m, key)
	delete(s.old, key)
}

// IsLarge reports whether there is more memory than is always kept.
func (s *Map[K, V]) IsLarge() bool { return s.most > 2*KeptKeys || s.old != nil }

// Shrink moves up to n keys to a smaller map, if there have been eight times as many, or
// twice if few thousands are left. It reports whether there are more to move.
func (s *Map[K, V]) Shrink(n int) (more bool) {
	if s.old == nil {
		if !s.IsLarge() || s.Len() > max(s.most/8, min(4*KeptKeys, s.most/2)) {
			return false
		}
		s.m, s.old, s.most = make(map[K]*V, min(s.Len(), n)), s.m, s.Len()
	}
	for key, v := range s.old {
		if n == 0 {
			return true
		}
		s.m[key] = v
		delete(s.old, key)
		n--
	}
	s.old = nil
	return false
}
