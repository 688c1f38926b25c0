package wire

import (
	"bytes"
	"unsafe"
)

// jsonMembers is the text of an object, from its brace or from the end of one of its members.
// It is for looking up some of them: invalid text may look like a member.
type jsonMembers []byte

// next returns the next member, and moves to the one after it. The key is nil if there is none,
// or it has an escape in it.
func (m *jsonMembers) next() (key []byte, value jsonMembers) {
	text := bytes.TrimLeft(*m, " \t\r\n,{")
	if len(text) == 0 || text[0] != '"' {
		return nil, nil
	}
	end := bytes.IndexByte(text[1:], '"') + 1
	if end == 0 || bytes.IndexByte(text[:end], '\\') >= 0 {
		return nil, nil
	}
	key, text = text[1:end], bytes.TrimLeft(text[end+1:], " \t\r\n:")
	size := len(text)
	if size > 0 {
		if c := text[0]; c == '{' || c == '[' || c == '"' {
			size, _ = (&jsonValue{}).scan(text)
		} else if comma := bytes.IndexByte(text, ','); comma >= 0 {
			size = comma
		}
	}
	*m = text[size:]
	return key, jsonMembers(text[:size])
}

// string returns the value of a member, if it is a string without escapes. It refers to
// its text.
func (m jsonMembers) string() string {
	if len(m) < 2 || m[0] != '"' || bytes.IndexByte(m, '\\') >= 0 {
		return ""
	}
	return unsafe.String(&m[1], len(m)-2)
}
