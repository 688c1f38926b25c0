package wire_test

import (
	"bytes"
	"reflect"
	"runtime"
	"runtime/debug"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	k8sruntime "k8s.io/apimachinery/pkg/runtime"
	utiljson "k8s.io/apimachinery/pkg/util/json"

	"github.com/kubetyped/informer/internal/decode/wire"
	"github.com/kubetyped/informer/internal/test/nested"
)

// format is a way to decode objects, and how apimachinery does it.
type format struct {
	name      string
	into      reflect.Type
	mediaType string
	theirs    func(text []byte) error
	// wrap returns an object of a name. The text is within as many others as depth says.
	wrap func(name string, depth int, open, text, end []byte) []byte
}

var formats = []format{
	{"JSON", reflect.TypeFor[*nested.Object](), k8sruntime.ContentTypeJSON,
		func(text []byte) error { return utiljson.Unmarshal(text, &nested.Object{}) }, wrapJSON},
	{"a Pod in JSON", reflect.TypeFor[*corev1.Pod](), k8sruntime.ContentTypeJSON,
		func(text []byte) error { return utiljson.Unmarshal(text, &corev1.Pod{}) }, wrapJSON},
	{"any JSON", reflect.TypeFor[*unstructured.Unstructured](), k8sruntime.ContentTypeJSON, func(text []byte) error {
		var content map[string]any
		return utiljson.Unmarshal(text, &content)
	}, wrapJSON},
	{"protobuf", reflect.TypeFor[*nested.Object](), k8sruntime.ContentTypeProtobuf,
		func(data []byte) error { return (&nested.Object{}).Unmarshal(data) }, wrapProtobuf},
	{"a Pod in protobuf", reflect.TypeFor[*corev1.Pod](), k8sruntime.ContentTypeProtobuf,
		func(data []byte) error { return (&corev1.Pod{}).Unmarshal(data) }, wrapProtobuf},
}

func wrapJSON(name string, depth int, open, text, end []byte) []byte {
	return join([]byte(`{"metadata":{"namespace":"n","name":"`+name+`"}`), bytes.Repeat(open, depth), text, bytes.Repeat(end, depth), []byte(`}`))
}

// wrapProtobuf nests by the field that open begins with.
func wrapProtobuf(name string, depth int, open, text, _ []byte) []byte {
	field := byte(3)
	if len(open) > 0 {
		field = open[0]
	}
	metadata := append([]byte{1<<3 | 2, byte(len(name) + 5), 1<<3 | 2, byte(len(name))}, name...)
	return append(append(metadata, 3<<3|2, 1, 'n'), nested.Nest(field, depth, text)...)
}

func join(all ...[]byte) []byte { return bytes.Join(all, nil) }

// cost is what decoding an object takes.
type cost struct {
	took  time.Duration
	bytes int64
}

func costOf(decode func()) cost {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	begun := time.Now()
	decode()
	took := time.Since(begun)
	runtime.ReadMemStats(&after)
	return cost{took, int64(after.TotalAlloc - before.TotalAlloc)}
}

const (
	// mostCost is how many times as much as apimachinery takes, objects may take here.
	mostCost = 3
	// sparedBytes are those that decoders keep for the next object, or make room with.
	sparedBytes = 1 << 19
	// leastTime is what is long enough to be compared on a machine that does other work, too:
	// what is wrong takes many times as long.
	leastTime = 10 * time.Millisecond
	// mostText is how large objects are.
	mostText = 1 << 17
)

// timed reports whether times can be compared.
var timed = true

// checkCost fails if an object costs much more here than it costs apimachinery: as the
// first one, as an update of another, and as a relative of it.
func checkCost(t *testing.T, f format, before, after, relative []byte) {
	t.Helper()
	defer debug.SetGCPercent(debug.SetGCPercent(-1)) // it costs what the bytes cost
	for role, text := range map[string][]byte{"first": after, "update": after, "relative": relative} {
		if f.theirs(text) != nil {
			continue
		}
		var ours, theirs cost
		for try := range 5 { // others may use the machine, too
			decode := f.decoder(t, role, before)
			our, their := costOf(func() { decode(text) }), costOf(func() { _ = f.theirs(text) })
			if try == 0 {
				ours, theirs = our, their
			}
			ours.took, theirs.took = min(ours.took, our.took), max(theirs.took, their.took)
			ours.bytes = min(ours.bytes, our.bytes)
			if ours.took < leastTime || ours.took <= mostCost*theirs.took {
				break
			}
		}
		assert.LessOrEqual(t, ours.bytes, mostCost*theirs.bytes+sparedBytes, "%s, %s: bytes of %d, %.80q", f.name, role, len(text), text)
		assert.True(t, !timed || ours.took < leastTime || ours.took <= mostCost*theirs.took,
			"%s, %s: %v instead of %v for %d bytes, %.80q", f.name, role, ours.took, theirs.took, len(text), text)
	}
}

// decoder returns what decodes an object in a role, when another one was decoded.
func (f format) decoder(t *testing.T, role string, before []byte) func(text []byte) {
	t.Helper()
	if f.into == reflect.TypeFor[*unstructured.Unstructured]() {
		return decoderOf(t, role, before, func(held wire.Held[*unstructured.Unstructured]) (wire.Codec[*unstructured.Unstructured], error) {
			return wire.NewCodec(f.mediaType, nil, held, nil)
		})
	}
	return decoderOf(t, role, before, func(held wire.Held[any]) (wire.Codec[any], error) {
		return wire.NewCodecOf(f.mediaType, f.into, held, nil)
	})
}

func decoderOf[T any](t *testing.T, role string, before []byte, newCodec func(wire.Held[T]) (wire.Codec[T], error)) func(text []byte) {
	t.Helper()
	var like T
	has := false
	codec, err := newCodec(func(string, string) (T, bool) { return like, has && role == "update" })
	require.NoError(t, err)
	if role != "first" {
		like, err = codec.Item(before)
		has = err == nil
	}
	return func(text []byte) {
		_, _ = codec.Item(text)
		runtime.KeepAlive(like)
	}
}

// TestCostOfKeysThatComeTwice: a map with such keys is never the same as the one in the pool, and must
// not be compared again at each level around it.
func TestCostOfKeysThatComeTwice(t *testing.T) {
	const entries, depth = 400_000, 38
	object := func(name, end string) []byte {
		return wrapProtobuf(name, depth, nil, []byte(strings.Repeat("\x32\x00", entries)+end), nil)
	}
	for _, f := range formats {
		if f.name == "protobuf" {
			checkCost(t, f, object("a-0", ""), object("a-0", "\x12\x00"), object("a-1", "\x12\x00"))
		}
	}
}

// FuzzCost: no object costs more than three times what it costs apimachinery, in time and
// in bytes, whatever is in it and before it: content must not be able to deny service.
//
// Of what is fuzzed, one part opens and another ends what there is again and again within
// each other, one is there again and again, and one is there in the object before, and
// another one now.
func FuzzCost(f *testing.F) {
	add := func(format uint8, depth, count uint16, open, unit, end, before, after string) {
		f.Add(format, depth, count, []byte(open), []byte(unit), []byte(end), []byte(before), []byte(after))
	}
	for _, depth := range []uint16{1, 190} {
		add(0, depth, 3000, `,"next":{"text":"t"`, `{"text":"n"},`, `}`, `,"children":[|{"text":"a"}]`, `,"children":[|{"text":"b"}]`)
		add(0, depth, 3000, `,"next":{"text":"t"`, `line\n`, `}`, `,"text":"|","children":[{"text":"a"}]`, `,"text":"|","children":[{"text":"b"}]`)
		add(0, depth, 2000, `,"next":{"text":"t"`, `{"a":{"b":"c"}},`, `}`, `,"any":[|{}],"children":[{"text":"a"}]`, `,"any":[|{}],"children":[{"text":"b"}]`)
		add(2, depth, 3000, `,"next":{"text":"t"`, `{"text":"n"},`, `}`, `,"children":[|{"text":"a"}]`, `,"children":[|{"text":"b"}]`)
		add(3, depth, 3000, "\x03", "\x22\x03\x12\x01n", "", "|\x22\x03\x12\x01a", "|\x22\x03\x12\x01b")
	}
	add(0, 90, 3000, `,"children":[{"text":"t"`, `{"text":"n"},`, `}]`, `,"children":[|{"text":"a"}]`, `,"children":[|{"text":"b"}]`)
	add(0, 90, 3000, `,"byName":{"x":{"text":"t"`, `{"text":"n"},`, `}}`, `,"children":[|{"text":"a"}]`, `,"children":[|{"text":"b"}]`)
	add(3, 190, 3000, "\x04", "\x22\x03\x12\x01n", "", "|\x22\x03\x12\x01a", "|\x22\x03\x12\x01b")
	add(3, 190, 3000, "\x05", "\x22\x03\x12\x01n", "", "|\x22\x03\x12\x01a", "|\x22\x03\x12\x01b")
	add(3, 1000, 3000, "\x03", "\x22\x03\x12\x01n", "", "|\x22\x03\x12\x01a", "|\x22\x03\x12\x01b")
	for _, format := range []uint8{0, 1, 2} {
		add(format, 0, 20000, ``, `0,`, ``, `,"any":[|0]`, `,"any":[|1]`)
		add(format, 0, 9000, ``, `"":0,`, ``, `,"anys":{|"":0}`, `,"anys":{|"":1}`)
		add(format, 0, 3000, ``, `\n`, ``, `,"any":"|"`, `,"any":"|."`)
		add(format, 0, 3000, ``, `{"a":1},`, ``, `,"any":[|0],"metadata":{"name":"a"}`, `,"any":[|1]`)
	}
	add(0, 0, 8000, ``, `AAAA`, ``, `,"next":{"next":{"bytes":"|"}}`, `,"next":{"next":{"bytes":"|","text":"b"}}`)
	add(0, 0, 3000, ``, `{},`, ``, `,"children":[|{}]`, `,"children":[{}]`)
	add(0, 0, 3000, ``, `"a":"b",`, ``, `,"texts":{|"a":"b"}`, `,"texts":{|"a":"c"}`)
	add(1, 0, 3000, ``, `{},`, ``, `,"spec":{"containers":[|{}]}`, `,"spec":{"containers":[{}]}`)
	add(1, 0, 300, ``, `{"name":"a","valueFrom":{"resourceFieldRef":{"resource":"r","divisor":"1"}}},`, ``,
		`,"spec":{"containers":[{"env":[|{}]}]}`, `,"spec":{"containers":[{"env":[|{"name":"b"}]}]}`)
	add(3, 0, 3000, "", "\x32\x00", "", "|", "|\x12\x00")
	add(3, 0, 40000, "", "\x32\x00", "", "|", "|\x12\x00")
	add(3, 0, 3000, "", "\x2a\x00", "", "|", "|\x12\x00")
	add(3, 0, 8000, "", "\x40\x01", "", "|", "|\x40\x02")
	add(3, 53, 3096, "", "\x2a\x00", "", "|", "|\x00\x12")
	f.Fuzz(func(t *testing.T, which uint8, depth, count uint16, open, unit, end, before, after []byte) {
		if (len(open)+len(end)+8)*int(depth) > mostText || (len(unit)+1)*int(count) > mostText || len(before)+len(after) > mostText {
			return
		}
		one, units := formats[int(which)%len(formats)], bytes.Repeat(unit, int(count))
		object := func(name string, text []byte) []byte {
			return one.wrap(name, int(depth), open, bytes.Replace(text, []byte("|"), units, 1), end)
		}
		checkCost(t, one, object("a-0", before), object("a-0", after), object("a-1", after))
	})
}
