package control

import "slices"

// keySet is a set that is empty at first. It is made for a handful of keys, for
// which it allocates nothing, and gets along with many.
type keySet[K comparable] struct {
	few  [handful]K
	n    int            // how many of few there are
	many map[K]struct{} // all keys, once there are more than that
}

// handful is up to how many keys it costs less to compare all of them than to
// hash one and to allocate a map.
const handful = 8

// insert adds key, and reports whether it was not there.
func (s *keySet[K]) insert(key K) bool {
	if s.many == nil {
		if slices.Contains(s.few[:s.n], key) {
			return false
		}
		if s.n < handful {
			s.few[s.n] = key
			s.n++
			return true
		}
		s.many = make(map[K]struct{}, 4*handful)
		for _, k := range s.few {
			s.many[k] = struct{}{}
		}
	}
	if _, ok := s.many[key]; ok {
		return false
	}
	s.many[key] = struct{}{}
	return true
}
