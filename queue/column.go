package queue

// column is something that is known of each row of a table, for those who need
// it: it is not part of the rows, so that the others have smaller ones.
type column[V any] []V

// at returns the value of row n, and makes room for it if need be.
func (c *column[V]) at(n int32) *V {
	for int(n) >= len(*c) {
		var none V
		*c = append(*c, none)
	}
	return &(*c)[n]
}

// fit gives memory back, if it is much more than what so many rows need. The
// values are lost.
func (c *column[V]) fit(rows int) {
	if cap(*c) > 4*rows {
		*c = nil
	}
}
