package wire

import (
	"errors"
	"fmt"
	"io"
	"math"

	"k8s.io/apimachinery/pkg/util/json"
)

// jsonItems are the items of a list in JSON. The text of the list is never in
// memory as a whole.
type jsonItems struct {
	text    *jsonText
	head    Head
	offset  int64
	began   bool // the list's opening bracket has been read
	inItems bool // within the array of items
	first   bool // nothing has been read since the last opening bracket
	listed  bool // there was an array of items
	ended   bool
}

func newJSONItems(r io.Reader) Items { return &jsonItems{text: newJSONText(r, math.MaxInt)} }

// Head implements Items.
func (l *jsonItems) Head() *Head { return &l.head }

// Offset implements Frames.
func (l *jsonItems) Offset() int64 { return l.offset }

// Next implements Frames.
func (l *jsonItems) Next() ([]byte, error) {
	if l.ended {
		return nil, io.EOF
	}
	if !l.began {
		if err := l.text.skip('{'); err != nil {
			return nil, err
		}
		l.began, l.first = true, true
	}
	for {
		if l.inItems {
			item, err := l.item()
			if item != nil || err != nil {
				return item, err
			}
			l.inItems, l.first = false, false
		}
		more, err := l.member()
		if err != nil {
			return nil, err
		}
		if !more {
			return nil, l.end()
		}
	}
}

// item returns the next item, nil if the array of items ends.
func (l *jsonItems) item() ([]byte, error) {
	more, err := l.more(']')
	if err != nil || !more {
		return nil, err
	}
	c, err := l.text.peek()
	l.offset = l.text.offset()
	switch {
	case err != nil:
		return nil, within(err)
	case c != '{' && c != 'n':
		return nil, l.text.unexpected("a JSON object")
	}
	item, err := l.text.value()
	if err == nil && c == 'n' && string(item) != "null" {
		err = errors.New("an item is no JSON object")
	}
	return item, err
}

// more reads what comes between the members of an object or array: a comma, or
// the closing bracket, for which it returns false.
func (l *jsonItems) more(closing byte) (bool, error) {
	c, err := l.text.peek()
	l.offset = l.text.offset()
	switch {
	case err != nil:
		return false, within(err)
	case c == closing:
		l.text.pos++
		return false, nil
	case l.first:
		l.first = false
		return true, nil
	}
	return true, l.text.skip(',')
}

// member reads a member of the list; of that with the items, only the beginning.
// It returns false if there are no more members.
func (l *jsonItems) member() (bool, error) {
	more, err := l.more('}')
	if err != nil || !more {
		return false, err
	}
	name, err := l.name()
	if err != nil {
		return false, err
	}
	c, err := l.text.peek()
	if err != nil {
		return false, within(err)
	}
	if name == "items" && l.listed {
		return false, errors.New("the list has its items twice")
	}
	if name == "items" && c == '[' {
		l.text.pos++
		l.inItems, l.first, l.listed = true, true, true
		return true, nil
	}
	value, err := l.text.value()
	if err != nil {
		return false, err
	}
	if err := l.set(name, value); err != nil {
		return false, fmt.Errorf("a member of the list: %w", err)
	}
	return true, nil
}

// name reads the name of a member and the colon after it.
func (l *jsonItems) name() (string, error) {
	c, err := l.text.peek()
	if err != nil {
		return "", within(err)
	}
	if c != '"' {
		return "", l.text.unexpected("the name of a member")
	}
	text, err := l.text.value()
	if err != nil {
		return "", err
	}
	var name string
	if err := json.Unmarshal(text, &name); err != nil {
		return "", err
	}
	return name, l.text.skip(':')
}

// set notes a member that is not the array of items.
func (l *jsonItems) set(name string, value []byte) error {
	switch name {
	case "kind":
		return json.Unmarshal(value, &l.head.Kind)
	case "apiVersion":
		return json.Unmarshal(value, &l.head.APIVersion)
	case "metadata":
		return json.Unmarshal(value, &l.head.ListMeta)
	case "items":
		var none []struct{}
		l.listed = true
		return json.Unmarshal(value, &none) // null
	default:
		var ignored any
		return json.Unmarshal(value, &ignored)
	}
}

// end checks that the response ends with the list, and returns io.EOF if it does.
func (l *jsonItems) end() error {
	if _, err := l.text.peek(); err != io.EOF {
		if err != nil {
			return err
		}
		return l.text.unexpected("the end of the list")
	}
	if l.first && !l.listed {
		return ErrEmptyObject
	}
	if err := l.head.checkList(l.listed); err != nil {
		return err
	}
	l.ended = true
	return io.EOF
}

// Buffered implements Frames.
func (l *jsonItems) Buffered() int { return l.text.buffered() }
