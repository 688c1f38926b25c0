package jsontree

import (
	"math"
	"strconv"
)

// number reads a number that begins at pos: an int64 if it is written as one and fits,
// else a float64.
func (p *pass) number(m *member, like any) bool {
	begin := p.pos
	negative := p.at('-')
	if negative {
		p.pos++
	}
	first := p.pos
	value := p.digits()
	digits := p.pos - first
	if digits == 0 || digits > 1 && p.text[first] == '0' {
		return false
	}
	isInt, point := true, p.at('.')
	if point {
		p.pos++
		if first := p.pos; p.digits() >= 0 && p.pos == first {
			return false
		}
	}
	if p.at('e') || p.at('E') {
		isInt = false
		p.pos++
		if p.at('+') || p.at('-') {
			p.pos++
		}
		if first := p.pos; p.digits() >= 0 && p.pos == first {
			return false
		}
	}
	written := p.text[begin:p.pos]
	if isInt && !point {
		if digits < 19 {
			if negative {
				value = -value
			}
			return m.setInt(value, like)
		}
		if value, err := strconv.ParseInt(text(written), 10, 64); err == nil {
			return m.setInt(value, like)
		}
	}
	float, err := strconv.ParseFloat(text(written), 64)
	return err == nil && m.setFloat(float, like)
}

// at reports whether the next byte is c.
func (p *pass) at(c byte) bool { return p.pos < len(p.text) && p.text[p.pos] == c }

// digits consumes digits, and returns the number that they are if that is no more than
// 18 of them.
func (p *pass) digits() (value int64) {
	for p.pos < len(p.text) && p.text[p.pos]-'0' < 10 {
		value = value*10 + int64(p.text[p.pos]-'0')
		p.pos++
	}
	return value
}

func (m *member) setInt(value int64, like any) bool {
	if was, ok := like.(int64); ok && was == value {
		m.take(like)
	} else {
		m.kind, m.number = anInt, uint64(value)
	}
	return true
}

func (m *member) setFloat(value float64, like any) bool {
	bits := math.Float64bits(value)
	if was, ok := like.(float64); ok && math.Float64bits(was) == bits {
		m.take(like)
	} else {
		m.kind, m.number = aFloat, bits
	}
	return true
}
