package layout

// MaxFields is how many fields a struct can have for a FieldSet.
const MaxFields = 128

// FieldSet is a set of fields of a struct, by numbers below MaxFields. The zero FieldSet
// is empty.
type FieldSet [MaxFields / 64]uint64

// Add adds a field, and reports whether it was there.
func (s *FieldSet) Add(n uint8) bool {
	bit := uint64(1) << (n & 63)
	was := s[n>>6]&bit != 0
	s[n>>6] |= bit
	return was
}

// Has reports whether a field is there.
func (s *FieldSet) Has(n uint8) bool { return s[n>>6]&(1<<(n&63)) != 0 }
