package jsontree

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/api/apitesting/fuzzer"
	metafuzzer "k8s.io/apimachinery/pkg/apis/meta/fuzzer"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	"k8s.io/client-go/kubernetes/scheme"

	"github.com/kubetyped/informer/internal/decode/plan"
)

// apimachinery decodes an object as apimachinery does.
func apimachinery(text []byte) (map[string]any, error) {
	var want map[string]any
	err := utiljson.Unmarshal(text, &want)
	return want, err
}

// requireSame fails unless two objects are the same, to the sign of a zero.
func requireSame(t testing.TB, want, got map[string]any) {
	t.Helper()
	require.Equal(t, want, got)
	require.Equal(t, floats(want), floats(got))
}

// floats returns the bits of all floating-point numbers in a value, in order.
func floats(value any) (all []uint64) {
	switch value := value.(type) {
	case float64:
		return []uint64{math.Float64bits(value)}
	case []any:
		for _, element := range value {
			all = append(all, floats(element)...)
		}
	case map[string]any:
		for _, key := range sortedKeys(value) {
			all = append(all, floats(value[key])...)
		}
	}
	return all
}

func sortedKeys(object map[string]any) (keys []string) {
	for key := range object {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	return keys
}

// check decodes an object, and fails unless the decoder makes of it what apimachinery
// does, or leaves it to that. It returns what was decoded, nil if it was left.
func check(t testing.TB, d *Decoder, text []byte, like map[string]any) map[string]any {
	t.Helper()
	want, err := apimachinery(text)
	buffer := slices.Clone(text)
	got, ok := d.Decode(buffer, like)
	clear(buffer) // nothing refers to it
	if !ok {
		require.Nil(t, got)
		return nil
	}
	require.NoError(t, err, "%q", text)
	requireSame(t, want, got)
	require.False(t, hasRoom(got))
	return got
}

// hasRoom reports whether there is a slice in a value that could be appended to in place.
func hasRoom(value any) bool {
	switch value := value.(type) {
	case []any:
		return cap(value) > len(value) || slices.ContainsFunc(value, hasRoom)
	case map[string]any:
		for _, element := range value {
			if hasRoom(element) {
				return true
			}
		}
	}
	return false
}

// randomObjects returns the text of objects of all types of client-go's scheme.
func randomObjects(t testing.TB, seed int64, each int) (texts [][]byte) {
	codecs := serializer.NewCodecFactory(scheme.Scheme)
	fill := fuzzer.FuzzerFor(metafuzzer.Funcs, rand.NewSource(seed), codecs).NilChance(0.5).NumElements(0, 2)
	known := map[string]reflect.Type{}
	for kind, of := range scheme.Scheme.AllKnownTypes() {
		known[kind.String()] = of
	}
	names := make([]string, 0, len(known))
	for name := range known {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		for range each {
			obj := reflect.New(known[name]).Interface()
			fill.Fill(obj)
			text, err := json.Marshal(obj)
			if err != nil {
				continue // a value that has no form in JSON
			}
			texts = append(texts, text)
		}
	}
	require.Greater(t, len(texts), 500)
	return texts
}

// TestDecodesLikeApimachinery: what is decoded of what encoders write is what
// apimachinery decodes, with and without parts that are shared, with an earlier state
// of the object and with one of another type.
func TestDecodesLikeApimachinery(t *testing.T) {
	t.Parallel()
	alone, shared := New(false, nil), New(true, nil)
	var other map[string]any
	for _, text := range randomObjects(t, 1, 1) {
		require.NotNil(t, check(t, alone, text, nil))
		require.NotNil(t, check(t, alone, text, other))
		for range 3 { // seen, kept, found
			require.NotNil(t, check(t, shared, text, nil))
		}
		got := check(t, shared, text, other)
		other = check(t, shared, text, got)
	}
}

// TestUnusualText: what encoders do not write is decoded as apimachinery does it, or
// left to it.
func TestUnusualText(t *testing.T) {
	t.Parallel()
	d := New(true, nil)
	values := map[bool][]string{
		true: {
			`0`, `-0`, `0.0`, `-0.0`, `1e3`, `1E+3`, `1e-3`, `1.5e300`, `12`, `255`, `256`, `-1`,
			`999999999999999999`, `1000000000000000000`, `9223372036854775807`, `9223372036854775808`, `-9223372036854775808`,
			`-9223372036854775809`, `123456789012345678901234567890`, `1.0`, `0.1`, `1e-400`,
			`null`, `true`, `false`, `""`, `"a"`, `[]`, `{}`, `[ ]`, `{ }`, `[1 , 2]`, "\t\r\n 1 \n", `[[],{},[[]]]`,
			`"\"\\\/\b\f\n\r\t"`, `"\u0041\u00e9\u4e16"`, `"\uABCD\uabcd"`, `"\ud83d\ude00"`, `"\uD83D\uDE00 after"`, `"before \u003c"`,
			`"é世😀"`, `"a long text, then é, and more of it"`, "\"\x7f\"", `"\u0000"`, `"\ufffd"`, `"'"`,
			`{"a":1,"a":2}`, `{"a":{"b":1},"a":{"c":2}}`, `{"":1}`, `{"\u0061":1,"b":2}`, `{"a":1, "A":2}`, `{"é":"é"}`,
			`{"a":null}`, `[null]`, `[0.5,-0.0,0.0]`, strings.Repeat("[", 150) + strings.Repeat("]", 150),
			`"` + strings.Repeat("x", 1000) + `"`, `"` + strings.Repeat(`\\`, 1000) + `"`, `[` + strings.Repeat(`0,`, 9999) + `0]`,
		},
		false: {
			``, `01`, `-`, `-a`, `1.`, `.5`, `1e`, `1e+`, `+1`, `0x1`, `1_0`, `1e999`, `-1e999`, `NaN`, `Infinity`,
			`nul`, `tru`, `falsy`, `nulls`, `True`, `"`, `"a`, `'a'`, `"\x"`, `"\`, `"\u12"`, `"\u12g4"`, `"\U0041"`,
			"\"\n\"", "\"\x00\"", "\"\x1f and more text\"", `[`, `[1`, `[1,`, `[1,]`, `[,1]`, `[1 2]`, `]`, `{`, `{"a"`, `{"a":`, `{"a":1`, `{"a":1,`, `{"a":1,}`,
			`{,}`, `{a:1}`, `{"a" 1}`, `{"a"::1}`, `{1:1}`, `{"a":1 "b":2}`, `{"a":}`, `[}`, `{]`, "1\x00", "\x00", "\v1", "\ufeff1", "\u00a01",
			"\"\xff\"", "\"\xc3\"", "\"\xed\xa0\x80\"", "{\"\xff\":1}", `"\ud800"`, `"\ud800x"`, `"\ude00\ud83d"`, `"\ud800\u0041"`, `{"\udead":1}`,
			strings.Repeat("[", 300) + strings.Repeat("]", 300), strings.Repeat(`{"a":`, 10_001) + "1" + strings.Repeat("}", 10_001), strings.Repeat("[", 100_000),
		},
	}
	for usual, all := range values {
		var like map[string]any
		for _, value := range all {
			text := `{"before":"text","value":` + value + `,"after":{"value":` + value + `}}`
			for range 4 {
				got := check(t, d, []byte(text), like)
				require.Equal(t, usual, got != nil, "%.200q", text)
				if got != nil {
					like = got
				}
			}
		}
	}
	for _, text := range []string{
		``, ` `, `null`, `1`, `"a"`, `[]`, `[{}]`, `{}{}`, `{} x`, "{}\x00", `{}]`, `{`, `{"a":1}}`, `{"metadata":{"name":"a"}`,
	} {
		require.Nil(t, check(t, d, []byte(text), nil), "%q", text)
	}
	require.NotNil(t, check(t, d, []byte(" \n{}\r\n\t"), nil))
}

// TestDamagedText: text that is cut off, or has a byte that is another one, is decoded
// as apimachinery does it, or left to it.
func TestDamagedText(t *testing.T) {
	t.Parallel()
	d, text := New(true, nil), podText(t, 1, 1)
	like := check(t, d, text, nil)
	require.NotNil(t, like)
	random := rand.New(rand.NewSource(1))
	for n := 0; n < len(text); n += 29 {
		require.Nil(t, check(t, d, text[:n], like))
		damaged := slices.Clone(text)
		damaged[n] = byte(random.Intn(256))
		check(t, d, damaged, like)
		damaged[n] = `"\{}[]:,019.-eE tfn`[random.Intn(19)]
		check(t, d, damaged, like)
	}
}

// TestEqualIsNotEnough: what has values that are like those of the last state, and yet
// is another object.
func TestEqualIsNotEnough(t *testing.T) {
	t.Parallel()
	d := New(true, nil)
	for _, c := range [][2]string{
		{`{"a":1,"b":2}`, `{"a":1,"a":1}`},
		{`{"a":1,"b":2}`, `{"a":1}`},
		{`{"a":1}`, `{"a":1,"b":2}`},
		{`{"a":null}`, `{"b":null}`},
		{`{"a":null,"b":1}`, `{"b":1,"c":null}`},
		{`{"a":1}`, `{"a":1.0}`},
		{`{"a":0.0}`, `{"a":-0.0}`},
		{`{"a":[1,2]}`, `{"a":[1]}`},
		{`{"a":[1]}`, `{"a":[1,2]}`},
		{`{"a":[]}`, `{"a":{}}`},
		{`{"a":[null]}`, `{"a":[]}`},
		{`{"a":[]}`, `{"a":null}`},
		{`{"a":"1"}`, `{"a":1}`},
		{`{"a":true}`, `{"a":false}`},
		{`{"a":""}`, `{"a":null}`},
	} {
		for _, c := range [][2]string{c, {c[1], c[0]}} {
			before := check(t, d, []byte(`{"spec":`+c[0]+`}`), nil)
			for range 3 {
				require.NotNil(t, check(t, d, []byte(`{"spec":`+c[1]+`}`), before))
			}
		}
	}
}

// TestManyKeys: an object of many members that come in any order, or twice.
func TestManyKeys(t *testing.T) {
	t.Parallel()
	d, random := New(true, nil), rand.New(rand.NewSource(1))
	for _, n := range []int{10, 100, 255, 256, 257, 3000} {
		for _, twice := range []bool{false, true} {
			var members []string
			for _, k := range random.Perm(n) {
				members = append(members, fmt.Sprintf(`"key-%d":%d`, k, k))
			}
			if twice {
				members = append(members, members[0])
			}
			text := []byte(`{"data":{` + strings.Join(members, ",") + `}}`)
			var like map[string]any
			for range 4 {
				like = check(t, d, text, like)
				require.NotNil(t, like)
			}
		}
	}
}

// TestMaskedFields: fields that are left out are not there, and are checked.
func TestMaskedFields(t *testing.T) {
	t.Parallel()
	only, err := plan.Only("spec.containers.name", "status.conditions", "metadata.labels.app")
	require.NoError(t, err)
	without, err := plan.Without("metadata.managedFields", "spec.containers.env", "status")
	require.NoError(t, err)
	for _, mask := range []*plan.Mask{only, without} {
		d := New(true, mask)
		for i := range 20 {
			text := podText(t, i%5, 1+i/5)
			want, err := apimachinery(text)
			require.NoError(t, err)
			mask.Apply(&unstructured.Unstructured{Object: want})
			got, ok := d.Decode(text, nil)
			require.True(t, ok)
			require.Equal(t, want, got)
			got, ok = d.Decode(text, got)
			require.True(t, ok)
			require.Equal(t, want, got)
		}
		for _, wrong := range []string{`[1,]`, `{"a":01}`, `"\x"`, `nul`, `{"a":{"b":[{]}}`} {
			_, ok := d.Decode([]byte(`{"status":{"other":`+wrong+`}}`), nil)
			assert.False(t, ok, wrong)
		}
	}
}

// FuzzDecode: every text is decoded as by apimachinery, even if there is a similar object.
func FuzzDecode(f *testing.F) {
	for _, text := range randomObjects(f, 2, 1) {
		f.Add(text, text[:len(text)/2])
	}
	f.Add([]byte(`{"a":"\u00e9\ud83d\ude00","b":[1,2.5,-0,1e3],"a":null}`), []byte(`{"a":"é😀","b":[1,2.5,0,1000]}`))
	d := New(true, nil)
	f.Fuzz(func(t *testing.T, text, other []byte) {
		like := check(t, d, other, nil)
		for _, text := range [][]byte{text, other, text, text} {
			if got := check(t, d, text, like); got != nil {
				like = got
			}
		}
	})
}
