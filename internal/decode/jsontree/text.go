package jsontree

import (
	"encoding/binary"
	"math/bits"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"
)

// next returns the next byte that is no white space, without consuming it, and 0 at the
// end of the text.
func (p *pass) next() byte {
	for p.pos < len(p.text) {
		switch c := p.text[p.pos]; c {
		case ' ', '\t', '\r', '\n':
			p.pos++
		default:
			return c
		}
	}
	return 0
}

// literal consumes a word.
func (p *pass) literal(word string) bool {
	rest := p.text[p.pos:]
	p.pos += len(word)
	return len(rest) >= len(word) && string(rest[:len(word)]) == word
}

// string consumes a string, whose quote is at pos, and returns its characters, as part of the
// text or of spell. It returns false if there is no string, or it is not UTF-8.
func (p *pass) string() ([]byte, bool) {
	begin := p.pos + 1
	end := begin + plain(p.text[begin:])
	if end < len(p.text) && p.text[end] == '"' {
		p.pos = end + 1
		return p.text[begin:end:end], true
	}
	return p.unusual(begin, end)
}

// unusual is string if the text from begin to end is plain, and more follows.
func (p *pass) unusual(begin, end int) ([]byte, bool) {
	start := len(p.spell)
	for {
		if end == len(p.text) {
			return nil, false
		}
		switch c := p.text[end]; {
		case c == '"':
			said := p.text[begin:end:end]
			if len(p.spell) > start {
				p.spell = append(p.spell, said...)
				said = p.spell[start:len(p.spell):len(p.spell)]
			}
			p.pos = end + 1
			return said, utf8.Valid(said)
		case c == '\\':
			if p.skipped > 0 && !utf8.Valid(p.text[begin:end]) {
				return nil, false
			}
			p.spellOut(p.text[begin:end])
			size := p.escape(p.text[end:])
			if size == 0 {
				return nil, false
			}
			begin, end = end+size, end+size
			if p.skipped > 0 { // and the text is not needed
				p.spell = p.spell[:start]
			}
		case c < ' ':
			return nil, false
		default: // of more than one byte
			end++
		}
		end += plain(p.text[end:])
	}
}

// spellOut adds a text to those that are spelled out, and makes room for one more character. It
// does not add skipped text.
func (p *pass) spellOut(text []byte) {
	if p.skipped > 0 {
		text = nil
	}
	p.spell = append(grown(p.spell, len(text)+utf8.UTFMax), text...)
}

// escapes are what escapes of two characters stand for.
var escapes = [256]byte{'"': '"', '\\': '\\', '/': '/', 'b': '\b', 'f': '\f', 'n': '\n', 'r': '\r', 't': '\t'}

// escape spells out the escape that text begins with. It returns its length, 0 if it is
// none, or half of a pair.
func (p *pass) escape(text []byte) int {
	if len(text) < 2 {
		return 0
	}
	if c := escapes[text[1]]; c != 0 {
		p.spell = append(p.spell, c)
		return 2
	}
	r := hexRune(text)
	if !utf16.IsSurrogate(r) {
		if r < 0 {
			return 0
		}
		p.spell = utf8.AppendRune(p.spell, r)
		return 6
	}
	r = utf16.DecodeRune(r, hexRune(text[6:]))
	if r == utf8.RuneError {
		return 0
	}
	p.spell = utf8.AppendRune(p.spell, r)
	return 12
}

// hexRune returns the character of an escape by number that text begins with, a
// negative one if there is none.
func hexRune(text []byte) rune {
	if len(text) < 6 || text[0] != '\\' || text[1] != 'u' {
		return -1
	}
	r, err := strconv.ParseUint(string(text[2:6]), 16, 16)
	if err != nil {
		return -1
	}
	return rune(r)
}

// plain returns how many bytes text begins with that stand for themselves in a string,
// and are ASCII.
func plain(text []byte) int {
	const ones, highs = 0x0101010101010101, 0x8080808080808080
	i := 0
	for ; i+8 <= len(text); i += 8 {
		w := binary.LittleEndian.Uint64(text[i:])
		quote, slash := w^ones*'"', w^ones*'\\'
		// A byte below n borrows when n is subtracted from it. The borrow can make the next
		// byte look like one, but not an earlier one.
		special := (w | (w-ones*' ')&^w | (quote-ones)&^quote | (slash-ones)&^slash) & highs
		if special != 0 {
			return i + bits.TrailingZeros64(special)/8
		}
	}
	for ; i < len(text); i++ {
		if c := text[i]; c == '"' || c == '\\' || c < ' ' || c >= utf8.RuneSelf {
			break
		}
	}
	return i
}
