package jsontree

import "unsafe"

// words are what an interface without methods is in memory: its type, and where its
// value is, or the value itself, if that is a map.
type words struct{ of, data unsafe.Pointer }

func typeOf(value any) unsafe.Pointer { return (*words)(unsafe.Pointer(&value)).of }

func dataOf(value any) unsafe.Pointer { return (*words)(unsafe.Pointer(&value)).data }

// valueOf returns the value of like's type that is at data.
func valueOf(like any, data unsafe.Pointer) any {
	(*words)(unsafe.Pointer(&like)).data = data
	return like
}

// text returns bytes as a string, which is gone when they are.
func text(b []byte) string { return unsafe.String(unsafe.SliceData(b), len(b)) }

// newString returns a string in an interface, for which a short one takes one heap
// object rather than two.
func newString(text []byte) any {
	switch n := len(text); {
	case n == 1: // the runtime has all of those
	case n <= 16:
		s := new(struct {
			string
			bytes [16]byte
		})
		return inPlace(&s.string, s.bytes[:copy(s.bytes[:], text)])
	case n <= 32:
		s := new(struct {
			string
			bytes [32]byte
		})
		return inPlace(&s.string, s.bytes[:copy(s.bytes[:], text)])
	case n <= 48:
		s := new(struct {
			string
			bytes [48]byte
		})
		return inPlace(&s.string, s.bytes[:copy(s.bytes[:], text)])
	}
	return string(text)
}

// inPlace makes s the string of these bytes, which are behind it, and returns it.
func inPlace(s *string, bytes []byte) any {
	*s = text(bytes)
	return valueOf("", unsafe.Pointer(s))
}
