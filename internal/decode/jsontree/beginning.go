package jsontree

// manyElements is how many elements of an array are members at a time.
const manyElements = 1 << 10

// beginning is what a long array begins with, of which there are too many elements to keep
// them as members, which are larger than values. As a whole it is not looked up.
type beginning struct {
	was  []any // what is like the array
	same int   // how many elements are those of was, as long as all are
	made []any // all of them, since one is not
}

func (b *beginning) isEmpty() bool { return b.same == 0 && b.made == nil }

// add adds elements.
func (b *beginning) add(p *pass, all []member, at place) {
	if b.made == nil && allSame(all) {
		b.same += len(all)
		return
	}
	if b.made == nil {
		b.made = append(grown(b.made, b.same+len(all)), b.was[:b.same]...)
		b.same = 0
	}
	b.made = grown(b.made, len(all))
	for i := range all {
		b.made = append(b.made, p.made(&all[i], at))
	}
}

// slice returns the slice of the elements, and of more after them. There is no room in it.
func (b *beginning) slice(p *pass, more []member, at place) any {
	made := make([]any, 0, b.same+len(b.made)+len(more))
	made = append(append(made, b.was[:b.same]...), b.made...)
	for i := range more {
		made = append(made, p.made(&more[i], at))
	}
	return made
}
