package wire

import "bytes"

// jsonValue finds the end of a JSON value whose text comes in pieces. It looks
// at nothing but brackets and strings; whether the text between is valid is for
// the decoder to say. The zero value is ready for the first byte of an object,
// an array or a string.
type jsonValue struct {
	depth   int  // of brackets
	quoted  bool // within a string
	escaped bool // a backslash came last
}

// bracketOrQuote tells for each byte whether it matters outside of strings.
var bracketOrQuote = [256]bool{'"': true, '{': true, '}': true, '[': true, ']': true}

// scan goes on with the next piece of the text. It returns how many bytes of it
// belong to the value, and whether the value ends with them.
func (v *jsonValue) scan(text []byte) (n int, done bool) {
	for n < len(text) {
		if v.quoted {
			n += v.string(text[n:])
			if !v.quoted && v.depth == 0 {
				return n, true
			}
			continue
		}
		c := text[n]
		n++
		if !bracketOrQuote[c] {
			continue
		}
		switch c {
		case '"':
			v.quoted = true
		case '{', '[':
			v.depth++
		default:
			if v.depth--; v.depth <= 0 {
				return n, true
			}
		}
	}
	return n, false
}

// string goes on within a string, and returns how many bytes belong to it.
func (v *jsonValue) string(text []byte) int {
	n := 0
	if v.escaped {
		v.escaped = false
		n = 1
	}
	for n < len(text) {
		quote := bytes.IndexByte(text[n:], '"')
		within := text[n:]
		if quote >= 0 {
			within = within[:quote]
		}
		escape := bytes.IndexByte(within, '\\')
		switch {
		case escape < 0 && quote < 0:
			return len(text)
		case escape < 0:
			v.quoted = false
			return n + quote + 1
		case n+escape+1 == len(text):
			v.escaped = true
			return len(text)
		default:
			n += escape + 2
		}
	}
	return len(text)
}
