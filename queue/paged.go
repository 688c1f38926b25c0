package queue

// pageSize is the number of elements in a page.
const pageSize = 64

// paged is an array in pages. It grows and shrinks by whole pages and never
// copies its elements, so no operation takes long, however large it is.
type paged[V any] struct{ pages []*[pageSize]V }

// at returns element i, whose page must exist.
func (p *paged[V]) at(i int32) *V {
	return &p.pages[uint32(i)/pageSize][uint32(i)%pageSize]
}

// reserve makes the page of element i if there is none, and returns the element.
func (p *paged[V]) reserve(i int32) *V {
	page := int(uint32(i) / pageSize)
	for page >= len(p.pages) {
		p.pages = append(p.pages, nil)
	}
	if p.pages[page] == nil {
		p.pages[page] = new([pageSize]V)
	}
	return p.at(i)
}

// release drops a page with its elements, if there is one.
func (p *paged[V]) release(page int32) {
	if int(page) < len(p.pages) {
		p.pages[page] = nil
		p.pages = trimNil(p.pages)
	}
}

// truncate drops the pages that an array of n elements does not need.
func (p *paged[V]) truncate(n int) {
	if keep := (n + pageSize - 1) / pageSize; keep < len(p.pages) {
		clear(p.pages[keep:])
		p.pages = trimNil(p.pages[:keep])
	}
}

// trimNil removes the nil pointers at the end of s, and copies what is left if
// that makes it much smaller.
func trimNil[P any](s []*P) []*P {
	n := len(s)
	for n > 0 && s[n-1] == nil {
		n--
	}
	if cap(s) > 4*n+pageSize {
		return append(make([]*P, 0, n), s[:n]...)
	}
	return s[:n]
}
