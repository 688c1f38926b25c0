package wire

import (
	"encoding/binary"
	"math/bits"
)

// jsonValue finds the end of a JSON value whose text comes in pieces. It looks
// at nothing but brackets and strings; whether the text between is valid is for
// the decoder to say. The zero value is ready for the first byte of an object,
// an array or a string.
type jsonValue struct {
	depth   int  // of brackets
	quoted  bool // within a string
	escaped bool // a backslash came last
}

// bracketOrQuote says for each byte whether it matters outside of strings.
var bracketOrQuote = [256]bool{'"': true, '{': true, '}': true, '[': true, ']': true}

// scan continues with the next piece of the text. It returns how many bytes of it belong to the
// value, and whether the value ends with them.
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

// string continues within a string, and returns how many bytes belong to it.
func (v *jsonValue) string(text []byte) int {
	n := 0
	if v.escaped {
		v.escaped = false
		n = 1
	}
	for n < len(text) {
		n += quoteOrEscape(text[n:])
		switch {
		case n == len(text):
		case text[n] == '"':
			v.quoted = false
			return n + 1
		case n+1 == len(text):
			v.escaped = true
			return len(text)
		default:
			n += 2
		}
	}
	return n
}

// quoteOrEscape returns how many bytes text begins with that are neither a quote nor a
// backslash.
func quoteOrEscape(text []byte) int {
	const ones, highs = 0x0101010101010101, 0x8080808080808080
	i := 0
	for ; i+8 <= len(text); i += 8 {
		w := binary.LittleEndian.Uint64(text[i:])
		quote, escape := w^ones*'"', w^ones*'\\'
		// One is taken from each byte, which borrows if it is zero. The first byte that
		// seems to be is, since nothing is borrowed from it.
		if found := ((quote-ones)&^quote | (escape-ones)&^escape) & highs; found != 0 {
			return i + bits.TrailingZeros64(found)/8
		}
	}
	for ; i < len(text) && text[i] != '"' && text[i] != '\\'; i++ {
	}
	return i
}
