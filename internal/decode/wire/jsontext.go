package wire

import (
	"bytes"
	"fmt"
	"io"
)

// jsonText reads a response in JSON, value by value.
type jsonText struct{ response }

func newJSONText(r io.Reader, longest int) *jsonText {
	t := &jsonText{}
	t.begin(r, longest)
	return t
}

// peek returns the next byte that is not white space, without consuming it.
func (t *jsonText) peek() (byte, error) {
	for {
		for ; t.pos < t.end; t.pos++ {
			switch c := t.buf[t.pos]; c {
			case ' ', '\t', '\r', '\n':
			default:
				return c, nil
			}
		}
		if err := t.fill(); err != nil {
			return 0, err
		}
	}
}

// buffered returns how many bytes have been received and not consumed, from the
// next that is not white space.
func (t *jsonText) buffered() int {
	return len(bytes.TrimLeft(t.arrived(), " \t\r\n"))
}

// skip consumes the next byte that is not white space, which has to be c.
func (t *jsonText) skip(c byte) error {
	found, err := t.peek()
	if err != nil {
		return within(err)
	}
	if found != c {
		return t.unexpected(fmt.Sprintf("%q", c))
	}
	t.pos++
	return nil
}

// unexpected says what was expected where something else stands. It shows no more
// of that than its first character: there may be secrets in it.
func (t *jsonText) unexpected(expected string) error {
	return fmt.Errorf("expected %s at byte %d of the response, found %q", expected, t.offset(), t.buf[t.pos])
}

// value consumes a value that begins with the next byte, which is not white space. The result
// is valid until the next call of any method.
func (t *jsonText) value() ([]byte, error) {
	scan := t.scalar
	if c := t.buf[t.pos]; c == '{' || c == '[' || c == '"' {
		scan = (&jsonValue{}).scan
	}
	for scanned := 0; ; {
		n, done := scan(t.buf[t.pos+scanned : t.end])
		scanned += n
		if done {
			value := t.buf[t.pos : t.pos+scanned]
			t.pos += scanned
			return value, nil
		}
		if err := t.fill(); err != nil {
			return nil, within(err)
		}
	}
}

// scalar finds the end of a number, true, false or null: the byte before one
// that cannot belong to it.
func (*jsonText) scalar(text []byte) (n int, done bool) {
	for i, c := range text {
		switch c {
		case ',', '}', ']', ':', ' ', '\t', '\r', '\n':
			return i, true
		}
	}
	return len(text), false
}

// jsonFrames are the objects of a response that is nothing but JSON objects, one
// after the other, with white space between them: a watch. They are what
// apimachinery's framer finds, which parses all of the text to that end; this
// takes a tenth of the time, and leaves it to the decoder to complain.
type jsonFrames struct {
	text   *jsonText
	offset int64
}

func newJSONFrames(r io.Reader) Frames { return &jsonFrames{text: newJSONText(r, MaxFrame)} }

// Next implements Frames.
func (f *jsonFrames) Next() ([]byte, error) {
	c, err := f.text.peek()
	f.offset = f.text.offset()
	if err != nil {
		return nil, between(err)
	}
	if c != '{' {
		return nil, f.text.unexpected("a JSON object")
	}
	return f.text.value()
}

// Offset implements Frames.
func (f *jsonFrames) Offset() int64 { return f.offset }

// Buffered implements Frames.
func (f *jsonFrames) Buffered() int { return f.text.buffered() }
