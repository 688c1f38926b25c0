package parts

import (
	"encoding/binary"
	"math/bits"
)

// Recent contains texts that were decoded last. Most texts of API objects come again soon, in
// the same object or in the next one: keys of labels, names of images and nodes. Objects can have
// a string in common whether they may be modified or not, since no program can modify a string.
//
// A text replaces another one in its place. The zero Recent is ready for use, by one goroutine
// at a time.
type Recent [recentCount]string

const (
	recentBits  = 9
	recentCount = 1 << recentBits
	// LongestRecent is how many bytes of a text are worth to be remembered: a text in a Recent
	// stays in memory.
	LongestRecent = 128
)

// At returns the place of a text that has a hash: it contains the text, if that is remembered,
// or is where to remember it.
func (r *Recent) At(hash uint32) *string { return &r[hash>>(32-recentBits)] }

// HashOf returns a hash of a text that is good enough to distinguish the texts of one object.
func HashOf(text []byte) uint32 {
	var first, last uint64
	switch n := len(text); {
	case n >= 8:
		first, last = binary.LittleEndian.Uint64(text), binary.LittleEndian.Uint64(text[n-8:])
	case n >= 4:
		first, last = uint64(binary.LittleEndian.Uint32(text)), uint64(binary.LittleEndian.Uint32(text[n-4:]))
	case n > 0:
		first = uint64(text[0])<<16 | uint64(text[n/2])<<8 | uint64(text[n-1])
	}
	mixed := (first ^ bits.RotateLeft64(last, 23) ^ uint64(len(text))<<56) * 0x9e3779b97f4a7c15
	return uint32(mixed >> 32)
}
