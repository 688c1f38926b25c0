package mutation

import (
	"fmt"
	"math"
	"reflect"
	"strconv"
	"strings"
	"time"
)

// longest is how many bytes of a value are reported.
const longest = 200

// shorten cuts a text that is too long.
func shorten(text string) string {
	if len(text) <= longest {
		return text
	}
	return strings.ToValidUTF8(text[:longest], "") + "…"
}

// text returns a value as text.
func (r *Recorder) text(v reflect.Value, depth int) string {
	e := encoder{r: r}
	e.value(v, depth)
	return (&reader{r, e.data}).text(v.Type(), depth)
}

// keyText returns the key of a map, which is a record unless it is a string.
func (r *reader) keyText(key string, t reflect.Type, depth int) string {
	if t.Kind() == reflect.String {
		return key
	}
	return (&reader{r.r, []byte(key)}).text(t, depth)
}

// text reads a value of a type, and returns it as text.
func (r *reader) text(t reflect.Type, depth int) string {
	if depth++; depth > maxDepth {
		return fmt.Sprintf("0x%x", r.uint())
	}
	switch t.Kind() {
	case reflect.String:
		return strconv.Quote(string(r.take(r.uint())))
	case reflect.Struct:
		if t == timeType {
			return r.time().Format(time.RFC3339Nano)
		}
		return r.structText(t, depth)
	case reflect.Pointer:
		was := r.uint()
		switch {
		case was == 0:
			return "nil"
		case opaque(t):
			return fmt.Sprintf("0x%x", was)
		}
		return r.text(t.Elem(), depth)
	case reflect.Interface:
		was := r.uint()
		if was == 0 {
			return "nil"
		}
		return r.text(r.r.typeOf(was-1), depth)
	case reflect.Slice:
		return r.sliceText(t, depth)
	case reflect.Array:
		var texts []string
		for range t.Len() {
			texts = append(texts, r.text(t.Elem(), depth))
		}
		return "[" + strings.Join(texts, " ") + "]"
	case reflect.Map:
		return r.mapText(t, depth)
	default:
		return scalarText(t, r.uint())
	}
}

// structText leaves out fields that are empty.
func (r *reader) structText(t reflect.Type, depth int) string {
	var texts []string
	for field := range t.Fields() {
		text := r.text(field.Type, depth)
		switch text {
		case "nil", "0", "false", `""`, "{}":
			continue
		}
		if name := nameOf(field); name != "" {
			text = name + ":" + text
		}
		texts = append(texts, text)
	}
	return "{" + strings.Join(texts, " ") + "}"
}

func (r *reader) sliceText(t reflect.Type, depth int) string {
	was := r.uint()
	if was == 0 {
		return "nil"
	}
	if t.Elem().Kind() == reflect.Uint8 {
		return strconv.Quote(string(r.take(was - 1)))
	}
	var texts []string
	for range was - 1 {
		texts = append(texts, r.text(t.Elem(), depth))
	}
	return "[" + strings.Join(texts, " ") + "]"
}

func (r *reader) mapText(t reflect.Type, depth int) string {
	was := r.uint()
	if was == 0 {
		return "nil"
	}
	var texts []string
	for range was - 1 {
		key := r.keyText(string(r.take(r.uint())), t.Key(), depth)
		texts = append(texts, key+":"+r.text(t.Elem(), depth))
	}
	return "map[" + strings.Join(texts, " ") + "]"
}

// time reads a time, see encoder.time.
func (r *reader) time() time.Time {
	seconds, nanoseconds, offset := int64(r.uint()), int64(r.uint()), int(r.uint())
	at := time.Unix(seconds, nanoseconds)
	if offset == 0 {
		return at.UTC()
	}
	return at.In(time.FixedZone("", offset))
}

func scalarText(t reflect.Type, n uint64) string {
	switch t.Kind() {
	case reflect.Bool:
		return strconv.FormatBool(n != 0)
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return strconv.FormatInt(int64(n>>1)^-int64(n&1), 10)
	case reflect.Float32, reflect.Float64:
		return strconv.FormatFloat(math.Float64frombits(n), 'g', -1, 64)
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64, reflect.Uintptr:
		return strconv.FormatUint(n, 10)
	default:
		return fmt.Sprintf("0x%x", n)
	}
}
