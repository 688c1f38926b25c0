package differential

import (
	"math/rand/v2"
	"slices"
	"strings"
)

// node is a value in JSON, as it is written.
type node struct {
	bracket byte   // '{' or '['; 0: it is a scalar
	text    string // of a scalar
	keys    []string
	nodes   []*node
}

// parser reads values.
type parser struct {
	text string
	pos  int
}

// parse returns the value that a text is. It returns false if it is none.
func parse(text string) (*node, bool) {
	p := &parser{text: text}
	n, ok := p.value(0)
	return n, ok && p.next() == 0
}

// next returns the next character that is no space, and 0 at the end.
func (p *parser) next() byte {
	for p.pos < len(p.text) && strings.IndexByte(" \t\r\n", p.text[p.pos]) >= 0 {
		p.pos++
	}
	if p.pos == len(p.text) {
		return 0
	}
	return p.text[p.pos]
}

func (p *parser) value(depth int) (*node, bool) {
	c := p.next()
	if c != '{' && c != '[' {
		text, ok := p.scalar()
		return &node{text: text}, ok
	}
	n := &node{bracket: c}
	end := c + 2
	p.pos++
	if p.next() == end {
		p.pos++
		return n, true
	}
	for depth < 1000 {
		if c == '{' {
			p.next()
			key, ok := p.scalar()
			if !ok || key[0] != '"' || p.next() != ':' {
				return nil, false
			}
			p.pos++
			n.keys = append(n.keys, key)
		}
		element, ok := p.value(depth + 1)
		if !ok {
			return nil, false
		}
		n.nodes = append(n.nodes, element)
		found := p.next()
		p.pos++
		if found != ',' {
			return n, found == end
		}
	}
	return nil, false
}

// scalar reads a string, a number or a word.
func (p *parser) scalar() (string, bool) {
	begin := p.pos
	if p.next(); p.pos < len(p.text) && p.text[p.pos] == '"' {
		for p.pos++; p.pos < len(p.text); p.pos++ {
			switch p.text[p.pos] {
			case '\\':
				p.pos++
			case '"':
				p.pos++
				return p.text[begin:p.pos], true
			}
		}
		return "", false
	}
	for p.pos < len(p.text) && strings.IndexByte(",:]} \t\r\n", p.text[p.pos]) < 0 {
		p.pos++
	}
	return p.text[begin:p.pos], p.pos > begin
}

// appendTo appends the text of a value.
func (n *node) appendTo(text []byte) []byte {
	if n.bracket == 0 {
		return append(text, n.text...)
	}
	text = append(text, n.bracket)
	for i, element := range n.nodes {
		if i > 0 {
			text = append(text, ',')
		}
		if n.bracket == '{' {
			text = append(append(text, n.keys[i]...), ':')
		}
		text = element.appendTo(text)
	}
	return append(text, n.bracket+2)
}

// insert inserts an element, in objects with a key.
func (n *node) insert(i int, key string, element *node) {
	n.nodes = slices.Insert(n.nodes, i, element)
	if n.bracket == '{' {
		n.keys = slices.Insert(n.keys, i, key)
	}
}

// oddValues are what a value is not often, or cannot be.
var oddValues = []string{
	`null`, `true`, `false`, `0`, `-0`, `-1`, `1.0`, `1e3`, `1E+2`, `1e-1`, `-0.0`, `1e400`, `01`, `-`, `1.`, `.5`, `128`, `256`, `2147483648`, `-2147483649`,
	`9223372036854775807`, `9223372036854775808`, `-9223372036854775809`, `18446744073709551616`, `NaN`, `nul`,
	`""`, `"a"`, `"1"`, `"1.5"`, `"1k"`, `"100m"`, `"0.1Ki"`, `" 1"`, `"99999999999999999999"`, `"\u0031"`, `"\ud83d\ude00"`, `"\ud800"`, `"\udc00\ud800"`, "\"\xff\"",
	"\"\xed\xa0\x80\"", "\"a\x01\"", `"\u0000"`, `"<>&"`, "\"\u2028\"", `"\/"`, `"\x"`, `"\u12"`, "\"\ufffd\"",
	`"2026-01-02T03:04:05Z"`, `"2026-01-02T03:04:05+01:00"`, `"2026-01-02T03:04:05.000001Z"`, `"2026-01-02T24:04:05Z"`, `"0001-01-01T00:00:00Z"`, `"2026-01-02t03:04:05z"`,
	`"1h0m0s"`, `"YWJj"`, `"YWJ"`, `"YW\nJj"`, `{}`, `[]`, `[null]`, `[{}]`, `[[]]`, `{"a":null}`, `{"a":1}`, `{"":""}`, `[1,2]`, `[1,]`, `{"a":1,}`, `{"a"}`, ` { "a" : [ 1 , 2 ] } `,
}

// oddKeys are keys that are not often there, or cannot be.
var oddKeys = []string{`"unknown"`, `""`, `"kind"`, `"name"`, `"\u0061"`, `"\ud800"`, "\"\xff\"", `"<"`, `"é"`, `x`}

// changeText changes a text in JSON at one place.
func changeText(r *rand.Rand, text []byte) []byte {
	root, ok := parse(string(text))
	if !ok || rarely(r, 12) {
		return changeBytes(r, text)
	}
	n := root
	for n.bracket != 0 && len(n.nodes) > 0 && !rarely(r, 4) {
		n = one(r, n.nodes)
	}
	switch {
	case n.bracket == 0:
		changeScalar(r, n)
	case len(n.nodes) == 0:
		n.insert(0, one(r, oddKeys), &node{text: one(r, oddValues)})
	default:
		one(r, textChanges)(r, n, r.IntN(len(n.nodes)))
	}
	out := root.appendTo(nil)
	if rarely(r, 40) {
		out = append(out, one(r, []string{" \n", "{}", "\x00", "x"})...)
	}
	return out
}

// changeScalar changes a scalar, mostly as updates do.
func changeScalar(r *rand.Rand, n *node) {
	switch text := []byte(n.text); {
	case rarely(r, 3):
		n.text = one(r, oddValues)
	case rarely(r, 6):
		n.text = " " + n.text + "\n"
	case text[0] == '"' && len(text) > 2:
		text[1+r.IntN(len(text)-2)] = "abc019-\\u"[r.IntN(9)]
		n.text = string(text)
	case text[0] != '"':
		n.text = one(r, []string{"0", "1", "5", "42", "1000", "true", "false"})
	}
}

// textChanges change an object or array, at one of its elements.
var textChanges = []func(r *rand.Rand, n *node, i int){
	func(r *rand.Rand, n *node, i int) { n.insert(i, one(r, oddKeys), &node{text: one(r, oddValues)}) },
	func(_ *rand.Rand, n *node, i int) {
		n.nodes = slices.Delete(n.nodes, i, i+1)
		if n.bracket == '{' {
			n.keys = slices.Delete(n.keys, i, i+1)
		}
	},
	func(r *rand.Rand, n *node, i int) { // the same once more, or of another value
		again := n.nodes[i]
		if rarely(r, 2) {
			again = &node{text: one(r, oddValues)}
		}
		n.insert(len(n.nodes), n.key(i), again)
	},
	func(r *rand.Rand, n *node, i int) { n.nodes[i] = &node{text: one(r, oddValues)} },
	func(r *rand.Rand, n *node, i int) { n.changeKey(r, i) },
	func(r *rand.Rand, n *node, i int) { // another order
		j := r.IntN(len(n.nodes))
		n.nodes[i], n.nodes[j] = n.nodes[j], n.nodes[i]
		if n.bracket == '{' && rarely(r, 2) {
			n.keys[i], n.keys[j] = n.keys[j], n.keys[i]
		}
	},
	func(_ *rand.Rand, n *node, i int) { n.nodes[i] = &node{bracket: '[', nodes: []*node{n.nodes[i]}} },
	func(r *rand.Rand, n *node, i int) { // deep
		depth := one(r, []int{10, 198, 199, 200, 201, 10001})
		n.nodes[i] = &node{text: strings.Repeat("[", depth) + strings.Repeat("]", depth)}
	},
	func(r *rand.Rand, n *node, i int) { // several more
		for range r.IntN(4) {
			key := n.key(i)
			if key != "" && key[0] == '"' {
				key = key[:len(key)-1] + string(rune('a'+r.IntN(26))) + `"`
			}
			n.insert(len(n.nodes), key, n.nodes[i])
		}
	},
}

// key returns the key of an element, none in arrays.
func (n *node) key(i int) string {
	if n.bracket == '[' {
		return ""
	}
	return n.keys[i]
}

// changeKey writes a key in another way, or adds one that differs in case.
func (n *node) changeKey(r *rand.Rand, i int) {
	key := n.key(i)
	if len(key) < 4 || key[1] == '\\' || key[1] >= 0x80 {
		return
	}
	switch r.IntN(4) {
	case 0:
		const hex = "0123456789abcdef"
		n.keys[i] = `"\u00` + string(hex[key[1]>>4]) + string(hex[key[1]&15]) + key[2:]
	case 1:
		n.keys[i] = one(r, oddKeys)
	case 2:
		n.keys[i] = strings.ToUpper(key)
	default:
		n.insert(r.IntN(len(n.nodes)), strings.ToUpper(key), n.nodes[i])
	}
}
