package view

import "slices"

// rowSet is a set of rows, most often of none or one.
type rowSet struct {
	one  uint32 // a row plus one; 0: none, or look at many
	many *rowList
}

// rowList is the rows of a set that has two or more.
type rowList struct {
	rows   []uint32
	places map[uint32]uint32 // of rows, by row; nil: they are searched for
}

// maxSearched is the number of rows up to which a set that loses one is searched.
const maxSearched = 256

// find returns the place of a row, -1 if it is not there.
func (l *rowList) find(row uint32) int {
	if l.places == nil && len(l.rows) <= maxSearched {
		return slices.Index(l.rows, row)
	}
	if l.places == nil {
		l.places = make(map[uint32]uint32, len(l.rows))
		for at, row := range l.rows {
			l.places[row] = uint32(at)
		}
	}
	if at, ok := l.places[row]; ok {
		return int(at)
	}
	return -1
}

func (l *rowList) add(row uint32) {
	if l.places != nil {
		l.places[row] = uint32(len(l.rows))
	}
	l.rows = append(l.rows, row)
}

// remove removes the row at a place, to which it moves the last one.
func (l *rowList) remove(at int) {
	last := len(l.rows) - 1
	if l.places != nil {
		l.places[l.rows[last]] = uint32(at)
		delete(l.places, l.rows[at])
	}
	l.rows[at] = l.rows[last]
	l.rows = l.rows[:last]
}

func (s *rowSet) len() int {
	switch {
	case s.many != nil:
		return len(s.many.rows)
	case s.one != 0:
		return 1
	}
	return 0
}

// add adds a row that is not in the set.
func (s *rowSet) add(row uint32) {
	switch {
	case s.many != nil:
		s.many.add(row)
	case s.one == 0:
		s.one = row + 1
	default:
		s.many = &rowList{rows: []uint32{s.one - 1, row}}
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
	if at := s.many.find(row); at >= 0 {
		s.many.remove(at)
	}
	if len(s.many.rows) == 1 {
		s.one, s.many = s.many.rows[0]+1, nil
	}
}

func (s *rowSet) has(row uint32) bool {
	if s.many != nil {
		return s.many.find(row) >= 0
	}
	return s.one == row+1
}

// each calls f with each row, which may remove that row from the set.
func (s *rowSet) each(f func(row uint32)) {
	switch {
	case s.many != nil:
		rows := s.many.rows
		for i := len(rows) - 1; i >= 0; i-- {
			f(rows[i])
		}
	case s.one != 0:
		f(s.one - 1)
	}
}
