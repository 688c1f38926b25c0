package jsontree

import (
	"encoding/base64"
	"unsafe"
)

// compare reports whether the value at like is the one that comes next. If it is not, nothing
// has been consumed.
//
// The parts of a value that differs are compared again, one by one. This must not repeat at
// each level: it would cost the depth of a value times its size. So a value around the place
// where a comparison has ended is not compared again. Everything before that place was found to
// be the same, and nothing after it has been looked at. So each byte is compared twice at most.
func (p *pass) compare(n *node, like unsafe.Pointer) bool {
	if like == nil || p.differs() {
		return false
	}
	pos, depth, spelled := p.pos, p.depth, len(p.spell)
	if p.equals(n, like) {
		return true
	}
	p.pos, p.depth, p.spell = pos, depth, p.spell[:spelled]
	return false
}

// differs reports whether the value at pos is known to differ from the one like it.
func (p *pass) differs() bool {
	for len(p.differ) > 0 {
		last := p.differ[len(p.differ)-1]
		if last > p.pos {
			return false
		}
		p.differ = p.differ[:len(p.differ)-1]
		if last == p.pos {
			return true
		}
	}
	return false
}

// spareRoom is for how many bytes an object may make room in vain.
const spareRoom = 1 << 16

// room returns for how many elements of a slice to make room: as many as there were
// before, unless too much room would be there in vain if there are fewer now.
func (p *pass) room(length int, size uintptr) int {
	if size > 0 {
		length = min(length, p.spare/int(size))
	}
	p.spare -= length * int(size)
	return length
}

// isBase64 reports whether a text is how encoders write bytes after which there is no
// room.
func isBase64(text, bytes []byte) bool {
	const step = 3 << 8
	var buffer [step / 3 * 4]byte
	if bytes == nil || cap(bytes) != len(bytes) || len(text) != base64.StdEncoding.EncodedLen(len(bytes)) {
		return false
	}
	for len(bytes) > 0 {
		some := bytes[:min(step, len(bytes))]
		size := base64.StdEncoding.EncodedLen(len(some))
		base64.StdEncoding.Encode(buffer[:], some)
		if string(buffer[:size]) != string(text[:size]) {
			return false
		}
		bytes, text = bytes[len(some):], text[size:]
	}
	return true
}
