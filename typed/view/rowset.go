package view

import "slices"

// rowSet is a set of rows, most often of none or one.
type rowSet struct {
	one  uint32 // a row plus one; 0: none, or look at many
	many *[]uint32
}

func (s *rowSet) len() int {
	switch {
	case s.many != nil:
		return len(*s.many)
	case s.one != 0:
		return 1
	}
	return 0
}

// add adds a row that is not in the set.
func (s *rowSet) add(row uint32) {
	switch {
	case s.many != nil:
		*s.many = append(*s.many, row)
	case s.one == 0:
		s.one = row + 1
	default:
		s.many = &[]uint32{s.one - 1, row}
		s.one = 0
	}
}

// remove removes a row, if it is there.
func (s *rowSet) remove(row uint32) {
	if s.many == nil {
		if s.one == row+1 {
			s.one = 0
		}
		return
	}
	if at := slices.Index(*s.many, row); at >= 0 {
		rows := *s.many
		rows[at] = rows[len(rows)-1]
		*s.many = rows[:len(rows)-1]
	}
	if len(*s.many) == 1 {
		s.one, s.many = (*s.many)[0]+1, nil
	}
}

func (s *rowSet) has(row uint32) bool {
	if s.many != nil {
		return slices.Contains(*s.many, row)
	}
	return s.one == row+1
}

// each calls f with each row, which may remove that row from the set.
func (s *rowSet) each(f func(row uint32)) {
	switch {
	case s.many != nil:
		rows := *s.many
		for i := len(rows) - 1; i >= 0; i-- {
			f(rows[i])
		}
	case s.one != 0:
		f(s.one - 1)
	}
}
