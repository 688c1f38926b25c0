package mutation

import (
	"bytes"
	"encoding/binary"
	"reflect"
	"strconv"
	"strings"
	"time"
)

// Change is a difference between a value and its record.
type Change struct {
	// Path is where the difference is, with the JSON names of fields, such as
	// metadata.labels[app] or spec.containers[0].image.
	Path string
	// Old and New are the values before and now, shortened if they are long.
	Old, New string
}

// Compare returns what has changed in a value since it was recorded, the first
// changes only if there are more than most. If the value changes while it looks, it
// may return less than that; the next call finds it.
func (r *Recorder) Compare(record []byte, value any, most int) (changes []Change) {
	c := comparison{reader: reader{r, record}, most: most}
	defer func() {
		if recover() != nil { // such as an index that is out of range by now
			changes = c.changes
		}
	}()
	if v := reflect.ValueOf(value); v.IsValid() {
		c.value(v, 0)
	}
	return c.changes
}

// comparison walks through a value and its record.
type comparison struct {
	reader  // of the rest of the record
	path    []step
	most    int
	changes []Change
}

// within compares what is behind a step.
func (c *comparison) within(s step, v reflect.Value, depth int) {
	c.path = append(c.path, s)
	c.value(v, depth)
	c.path = c.path[:len(c.path)-1]
}

// value compares a value with the next part of the record, and advances beyond that.
func (c *comparison) value(v reflect.Value, depth int) {
	begin := c.record
	same := depth+1 <= maxDepth || c.uint() == addressOf(v)
	if depth++; depth <= maxDepth {
		same = c.content(v, depth)
	}
	if !same {
		c.differs(begin, v, depth-1)
	}
}

// content compares what is in a value. It returns false if the value differs as a
// whole; then it may have passed a part of it.
func (c *comparison) content(v reflect.Value, depth int) (same bool) {
	switch v.Kind() {
	case reflect.String:
		return string(c.take(c.uint())) == v.String()
	case reflect.Struct:
		if at := timeOf(v); at != nil {
			return c.sameTime(*at)
		}
		for i := range v.NumField() {
			c.within(step{of: v.Type(), index: i}, v.Field(i), depth)
		}
	case reflect.Pointer:
		was := c.uint()
		if opaque(v.Type()) || was == 0 || v.IsNil() {
			return was == addressOf(v)
		}
		c.value(v.Elem(), depth)
	case reflect.Interface:
		was := c.uint()
		if was == 0 || v.IsNil() {
			return was == 0 && v.IsNil()
		}
		if c.r.typeOf(was-1) != v.Elem().Type() {
			return false
		}
		c.value(v.Elem(), depth)
	case reflect.Slice:
		return c.slice(v, depth)
	case reflect.Array:
		for i := range v.Len() {
			c.within(step{index: i}, v.Index(i), depth)
		}
	case reflect.Map:
		return c.mapping(v, depth)
	default:
		return c.uint() == scalar(v)
	}
	return true
}

func (c *comparison) sameTime(at time.Time) bool {
	was := c.time()
	_, offset := was.Zone()
	_, now := at.Zone()
	return was.Equal(at) && offset == now
}

func (c *comparison) slice(v reflect.Value, depth int) (same bool) {
	was := c.uint()
	if was == 0 || v.IsNil() || was-1 != uint64(v.Len()) {
		return was == 0 && v.IsNil()
	}
	if v.Type().Elem().Kind() == reflect.Uint8 {
		return bytes.Equal(c.take(was-1), v.Bytes())
	}
	for i := range v.Len() {
		c.within(step{index: i}, v.Index(i), depth)
	}
	return true
}

// mapping compares a map entry by entry, as both are in the order of keys.
func (c *comparison) mapping(v reflect.Value, depth int) (same bool) {
	was := c.uint()
	if was == 0 || v.IsNil() {
		return was == 0 && v.IsNil()
	}
	left, keys, values := c.r.entriesOf(v, depth), v.Type().Key(), v.Type().Elem()
	for range was - 1 {
		key := string(c.take(c.uint()))
		for len(left) > 0 && left[0].key < key {
			c.added(left[0], keys, depth)
			left = left[1:]
		}
		at := step{key: c.keyText(key, keys, depth), isKey: true}
		if len(left) > 0 && left[0].key == key {
			c.within(at, left[0].value, depth)
			left = left[1:]
			continue
		}
		c.path = append(c.path, at)
		c.note(c.text(values, depth), none)
		c.path = c.path[:len(c.path)-1]
	}
	for _, entry := range left {
		c.added(entry, keys, depth)
	}
	return true
}

// added notes an entry of a map that was not there.
func (c *comparison) added(e entry, keys reflect.Type, depth int) {
	c.path = append(c.path, step{key: c.keyText(e.key, keys, depth), isKey: true})
	c.note(none, c.r.text(e.value, depth))
	c.path = c.path[:len(c.path)-1]
}

// none stands for an entry that a map has not.
const none = "none"

// differs notes that a value is not what the record has from begin on, and passes
// that.
func (c *comparison) differs(begin []byte, v reflect.Value, depth int) {
	c.record = begin
	c.note(c.text(v.Type(), depth), c.r.text(v, depth))
}

func (c *comparison) note(was, is string) {
	if len(c.changes) < c.most {
		c.changes = append(c.changes, Change{c.where(), shorten(was), shorten(is)})
	}
}

// where returns the path.
func (c *comparison) where() string {
	var b strings.Builder
	for _, s := range c.path {
		name := s.String()
		if name != "" && name[0] != '[' && b.Len() > 0 {
			b.WriteByte('.')
		}
		b.WriteString(name)
	}
	return b.String()
}

// reader reads a record.
type reader struct {
	r      *Recorder
	record []byte
}

func (r *reader) uint() uint64 {
	n, size := binary.Uvarint(r.record)
	r.record = r.record[size:]
	return n
}

// take takes bytes off the record.
func (r *reader) take(n uint64) []byte {
	taken := r.record[:n]
	r.record = r.record[n:]
	return taken
}

// step is a step on the way to a value: a field, an index or a key.
type step struct {
	of    reflect.Type // a struct, or nil
	index int
	key   string
	isKey bool
}

// String returns the step as it is written in a path, "" if a path with names in JSON leaves
// it out.
func (s step) String() string {
	switch {
	case s.of != nil:
		return nameOf(s.of.Field(s.index))
	case s.isKey:
		return "[" + s.key + "]"
	default:
		return "[" + strconv.Itoa(s.index) + "]"
	}
}

// nameOf returns the name of a field in JSON, or else in Go, "" if it is embedded.
func nameOf(field reflect.StructField) string {
	name, options, _ := strings.Cut(field.Tag.Get("json"), ",")
	of := field.Type
	if of.Kind() == reflect.Pointer {
		of = of.Elem()
	}
	switch {
	case name != "" && name != "-":
		return name
	case name == "" && (field.Anonymous && of.Kind() == reflect.Struct || strings.Contains(options, "inline")):
		return ""
	}
	return field.Name
}
