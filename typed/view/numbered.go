package view

// numbered is what rows of a stage have asked for: each time has a number, and a row has
// any number of them.
type numbered[A any] struct {
	what   []A      // by number
	owners []uint32 // by number
	of     []rowSet // by row
	noted  []A      // since the last commit
	free   []uint32
	used   int
}

func (n *numbered[A]) note(a A) { n.noted = append(n.noted, a) }

func (n *numbered[A]) len() int { return n.used }

// owner returns the row to which a number belongs.
func (n *numbered[A]) owner(number uint32) uint32 { return n.owners[number] }

// first returns the first of what a row has asked for, of which there is some.
func (n *numbered[A]) first(row uint32) (a A) {
	n.of[row].each(func(number uint32) { a = n.what[number] })
	return a
}

// commit replaces the earlier requests of a row by the noted ones. It calls remove with the
// numbers of the earlier ones, and add with those of the noted ones. It calls neither if there
// is one of each, and same, unless it is nil, reports that they are the same.
func (n *numbered[A]) commit(row uint32, same func(a, b A) bool, add func(number uint32, a A), remove func(number uint32)) {
	n.of = grown(n.of, int(row)+1)
	var none A
	of := &n.of[row]
	if same != nil && len(n.noted) == 1 && of.len() == 1 {
		kept := false
		of.each(func(number uint32) {
			if kept = same(n.what[number], n.noted[0]); kept {
				n.what[number] = n.noted[0]
			}
		})
		if kept {
			clear(n.noted)
			n.noted = n.noted[:0]
			return
		}
	}
	of.each(func(number uint32) {
		remove(number)
		n.what[number] = none
		n.free = append(n.free, number)
		n.used--
	})
	*of = rowSet{}
	for _, a := range n.noted {
		var number uint32
		if last := len(n.free) - 1; last >= 0 {
			number = n.free[last]
			n.free = n.free[:last]
		} else {
			number = uint32(len(n.what))
			n.what, n.owners = append(n.what, none), append(n.owners, 0)
		}
		n.what[number], n.owners[number] = a, row
		of.add(number)
		add(number, a)
		n.used++
	}
	clear(n.noted)
	n.noted = kept(n.noted)
}

// each calls f with what a row has asked for.
func (n *numbered[A]) each(row uint32, f func(a A)) {
	if int(row) < len(n.of) {
		n.of[row].each(func(number uint32) { f(n.what[number]) })
	}
}
