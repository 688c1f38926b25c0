package plan

import "unsafe"

// differing are the places in the bytes where values begin that differ from those like them, as
// was found when a value around them was compared. The places that are last in the bytes come
// first; if there are many, these are forgotten.
//
// A value that differs is decoded, and its parts are compared. This must not repeat at each
// level: it would cost the depth of a value times its size. So a value around the place where a
// comparison has ended is not compared again.
type differing struct {
	at [64]uintptr
	n  int
}

// add adds the value that begins with data. To a nil differing it adds nothing.
func (d *differing) add(data []byte) {
	switch {
	case d == nil:
		return
	case d.n == len(d.at):
		copy(d.at[:], d.at[1:])
		d.n--
	}
	d.at[d.n] = begin(data)
	d.n++
}

// has reports whether the value that begins with data is known to differ. It forgets those
// that begin before it.
func (d *differing) has(data []byte) bool {
	for at := begin(data); d.n > 0; {
		last := d.at[d.n-1]
		if last > at {
			return false
		}
		d.n--
		if last == at {
			return true
		}
	}
	return false
}

func begin(data []byte) uintptr { return uintptr(unsafe.Pointer(unsafe.SliceData(data))) }
