package wire

import "io"

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
