package shard

import (
	"fmt"
	"iter"
	"math/bits"
	"strconv"
	"strings"
)

// rangeCount is how many ranges there are. Members have whole ranges, so fifty of them
// have 5 or 6 each, which is within a tenth of an equal share; and a set of ranges is 64
// hexadecimal digits in a Lease.
const rangeCount = 256

// ranges is a set of the ranges into which the hashes of 64 bits are divided: range r
// has those whose first byte is r.
type ranges [rangeCount / 64]uint64

// everything is the set of all ranges.
var everything = ranges{^uint64(0), ^uint64(0), ^uint64(0), ^uint64(0)}

func (s *ranges) add(r uint8) { s[r/64] |= 1 << (r % 64) }

// with returns the set with one more range.
func (s ranges) with(r uint8) ranges {
	s.add(r)
	return s
}

func (s ranges) has(r uint8) bool { return s[r/64]&(1<<(r%64)) != 0 }
func (s ranges) empty() bool      { return s == ranges{} }

// and returns what is in both.
func (s ranges) and(o ranges) ranges {
	for i := range s {
		s[i] &= o[i]
	}
	return s
}

// or returns what is in one of them.
func (s ranges) or(o ranges) ranges {
	for i := range s {
		s[i] |= o[i]
	}
	return s
}

// minus returns what is in s alone.
func (s ranges) minus(o ranges) ranges {
	for i := range s {
		s[i] &^= o[i]
	}
	return s
}

// count returns how many ranges are in the set.
func (s ranges) count() int {
	n := 0
	for _, word := range s {
		n += bits.OnesCount64(word)
	}
	return n
}

// all returns the ranges in the set, the lowest first.
func (s ranges) all() iter.Seq[uint8] {
	return func(yield func(uint8) bool) {
		for r := range rangeCount {
			if s.has(uint8(r)) && !yield(uint8(r)) {
				return
			}
		}
	}
}

// lowest returns the n lowest ranges of the set, or all, if it has less.
func (s ranges) lowest(n int) ranges {
	var low ranges
	for r := range s.all() {
		if n--; n < 0 {
			break
		}
		low.add(r)
	}
	return low
}

// String returns the set as Leases have it: 64 hexadecimal digits, range 0 in the last.
func (s ranges) String() string {
	return fmt.Sprintf("%016x%016x%016x%016x", s[3], s[2], s[1], s[0])
}

// parseRanges reads what String has written; "" is the empty set.
func parseRanges(text string) (s ranges, err error) {
	if text == "" {
		return s, nil
	}
	if len(text) != rangeCount/4 {
		return s, fmt.Errorf("%q is no set of ranges: it has not %d digits", text, rangeCount/4)
	}
	for i := range s {
		word := text[len(text)-16*(i+1):][:16]
		if s[i], err = strconv.ParseUint(word, 16, 64); err != nil {
			return ranges{}, fmt.Errorf("%q is no set of ranges: %w", text, err)
		}
	}
	return s, nil
}

// selector returns the selector by which an API server is asked for the objects whose
// field has a hash in the set. Neighbours are asked for as one.
func (s ranges) selector(field string) string {
	if s == everything {
		return ""
	}
	var terms []string
	for from := 0; from < rangeCount; {
		if !s.has(uint8(from)) {
			from++
			continue
		}
		to := from
		for to < rangeCount && s.has(uint8(to)) {
			to++
		}
		terms = append(terms, fmt.Sprintf("shardRange(%s, '0x%02x%014x', '0x%02x%014x')", field, from, 0, to, 0))
		from = to
	}
	return strings.Join(terms, " || ")
}
