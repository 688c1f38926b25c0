package wire_test

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/framer"
	"k8s.io/apimachinery/pkg/util/json"

	"github.com/kubetyped/informer/internal/decode/wire"
)

func codecOf[T any](t testing.TB, mediaType string) wire.Codec[T] {
	codec, err := wire.NewCodec[T](mediaType, nil, nil, nil)
	require.NoError(t, err)
	return codec
}

// all returns the frames of a response, and the error that ends it.
func all(frames wire.Frames) (texts []string, offsets []int64, err error) {
	for {
		text, err := frames.Next()
		if err != nil {
			return texts, append(offsets, frames.Offset()), err
		}
		texts, offsets = append(texts, string(text)), append(offsets, frames.Offset())
	}
}

func TestJSONFrames(t *testing.T) {
	codec := codecOf[*corev1.Pod](t, runtime.ContentTypeJSON)
	long := `{"long":"` + strings.Repeat(`x\"y\\`, 20_000) + `"}`
	for name, test := range map[string]struct {
		text string
		want []string
		err  string
	}{
		"none":          {"", nil, "EOF"},
		"white space":   {" \r\n\t", nil, "EOF"},
		"one":           {`{}`, []string{`{}`}, "EOF"},
		"lines":         {"{\"a\":1}\n{\"b\":2}\n", []string{`{"a":1}`, `{"b":2}`}, "EOF"},
		"no space":      {`{}{}`, []string{`{}`, `{}`}, "EOF"},
		"lines within":  {"{\n\"a\": [\n{}]}\n", []string{"{\n\"a\": [\n{}]}"}, "EOF"},
		"brackets":      {`{"}{":"]["}`, []string{`{"}{":"]["}`}, "EOF"},
		"escapes":       {`{"a":"\"}\\"}{}`, []string{`{"a":"\"}\\"}`, `{}`}, "EOF"},
		"long":          {long + long, []string{long, long}, "EOF"},
		"cut off":       {`{} {"a`, []string{`{}`}, "unexpected EOF"},
		"after escape":  {`{"a\`, nil, "unexpected EOF"},
		"HTML":          {`<html><body>Sign in</body></html>`, nil, `expected a JSON object at byte 0 of the response, found '<'`},
		"number":        {`{} 1`, []string{`{}`}, `expected a JSON object at byte 3 of the response, found '1'`},
		"too long":      {`{"a":"` + strings.Repeat("x", wire.MaxFrame) + `"}`, nil, "longer than"},
		"closing first": {`}`, nil, "expected a JSON object"},
	} {
		t.Run(name, func(t *testing.T) {
			for reader, r := range map[string]io.Reader{
				"at once": strings.NewReader(test.text), "by bytes": iotest.OneByteReader(strings.NewReader(test.text)),
				"with the error": iotest.DataErrReader(strings.NewReader(test.text)),
			} {
				if len(test.text) > 1<<20 && reader != "at once" {
					continue
				}
				got, offsets, err := all(codec.Frames(r))
				assert.Equal(t, test.want, got, reader)
				assert.ErrorContains(t, err, test.err, reader)
				assert.Equal(t, test.err == "EOF", err == io.EOF, reader)
				for i, text := range got {
					assert.Equal(t, text, test.text[offsets[i]:offsets[i]+int64(len(text))], "%s: offset", reader)
				}
			}
		})
	}
	_, _, err := all(codec.Frames(io.MultiReader(strings.NewReader(`{}`), iotest.ErrReader(io.ErrClosedPipe))))
	assert.ErrorIs(t, err, io.ErrClosedPipe)
}

func TestProtobufFrames(t *testing.T) {
	codec := codecOf[*corev1.Pod](t, runtime.ContentTypeProtobuf)
	var response bytes.Buffer
	w := framer.NewLengthDelimitedFrameWriter(&response)
	frames := []string{"one", strings.Repeat("long", 100_000), "", "three"}
	for _, frame := range frames {
		_, err := w.Write([]byte(frame))
		require.NoError(t, err)
	}
	whole := response.Bytes()
	got, offsets, err := all(codec.Frames(bytes.NewReader(whole)))
	assert.Equal(t, io.EOF, err)
	assert.Equal(t, frames, got)
	assert.Equal(t, []int64{0, 7, 400_011, 400_015, int64(len(whole))}, offsets)
	for _, cut := range []int{1, 4, 5, 6, 9, 100_000, len(whole) - 1} {
		_, _, err := all(codec.Frames(bytes.NewReader(whole[:cut])))
		assert.Equal(t, io.ErrUnexpectedEOF, err, "cut off after %d bytes", cut)
	}
	_, _, err = all(codec.Frames(strings.NewReader("<html>…")))
	assert.ErrorContains(t, err, "longer than", "the first bytes are taken for a length, and nothing is allocated for it")
	_, _, err = all(codec.Frames(strings.NewReader("\xff\xff\xff\xff…")))
	assert.ErrorContains(t, err, "longer than", "it is negative as an int of 32 bits")
}

// FuzzJSONFrames compares the frames with those of apimachinery's framer: they
// are the same, one by one, as long as that has no complaint.
func FuzzJSONFrames(f *testing.F) {
	for _, text := range []string{``, `{}`, `{"a":[1,"}"]} {"b":"\\\""}`, "{}\n{", `{]`, `[{}]`, `{"a":"` + "\xff" + `"}{}`, `}`} {
		f.Add([]byte(text), 1)
	}
	f.Fuzz(func(t *testing.T, text []byte, piece int) {
		codec := codecOf[*corev1.Pod](t, runtime.ContentTypeJSON)
		frames := codec.Frames(&pieces{text, 1 + piece&63})
		reference := framer.NewJSONFramedReader(io.NopCloser(bytes.NewReader(text)))
		buf := make([]byte, len(text)+1)
		for {
			frame, err := frames.Next()
			n, wanted := reference.Read(buf)
			if wanted == nil && (n == 0 || buf[0] != '{') {
				assert.Error(t, err, "it is no object")
				return
			}
			switch {
			case wanted == io.EOF:
				assert.Equal(t, io.EOF, err)
				return
			case wanted != nil && err != nil:
				return
			case wanted != nil:
				var content any
				assert.Error(t, json.Unmarshal(frame, &content), "the decoder has to complain: %v", wanted)
				return
			}
			require.NoError(t, err)
			require.Equal(t, string(buf[:n]), string(frame))
			require.Equal(t, string(frame), string(text[frames.Offset():][:len(frame)]))
		}
	})
}

// pieces gives a text in pieces.
type pieces struct {
	text []byte
	size int
}

func (p *pieces) Read(buf []byte) (int, error) {
	if len(p.text) == 0 {
		return 0, io.EOF
	}
	n := copy(buf, p.text[:min(p.size, len(p.text))])
	p.text = p.text[n:]
	return n, nil
}

// FuzzJSONItems compares the items of a list with what a decoder of whole lists
// finds.
func FuzzJSONItems(f *testing.F) {
	for _, text := range []string{
		``, `{}`, `{"items":[]}`, `{"kind":"PodList","apiVersion":"v1","metadata":{"resourceVersion":"7","continue":"x"},"items":[{"a":1}, {}]}`,
		`{"items":null}`, `{"items":[{},]}`, `{"items":[{}]`, `{"items":[{}]} {`, `{"kind":"PodList","apiVersion":"v1"}`, `{"items":[{"metadata":7},{"metadata":{"name":[]}}]}`, `{"items":[1]}`, `{"x":1.5e3,"items":[{"b":"]"}],"kind":"L"}`, `{,}`, `[]`,
	} {
		f.Add([]byte(text), 1)
	}
	f.Fuzz(func(t *testing.T, text []byte, piece int) {
		codec := codecOf[*unstructured.Unstructured](t, runtime.ContentTypeJSON)
		items := codec.Items(&pieces{text, 1 + piece&63})
		texts, _, err := all(items)
		var list struct {
			wire.Head
			Items *[]map[string]any `json:"items"`
		}
		if json.Unmarshal(text, &list) != nil || list.Items == nil {
			return // it has to end, no more
		}
		if err != io.EOF {
			// Members of the list that a decoder into Go types does not look at.
			return
		}
		got := make([]map[string]any, 0)
		for _, item := range texts {
			obj, err := codec.Item([]byte(item))
			if err != nil {
				return
			}
			got = append(got, obj.Object)
		}
		if strings.Count(string(text), `items`) == 1 {
			assert.Equal(t, append([]map[string]any{}, *list.Items...), got)
		}
	})
}

var errLate = errors.New("late")

func TestItems(t *testing.T) {
	codec := codecOf[*unstructured.Unstructured](t, runtime.ContentTypeJSON)
	items := codec.Items(strings.NewReader(`{"apiVersion":"v1","items":[{"a":1},
		{"b":{"c":"]"}}],"kind":"PodList","metadata":{"resourceVersion":"7","continue":"x","remainingItemCount":5},"other":[1,null]} `))
	texts, _, err := all(items)
	assert.Equal(t, io.EOF, err)
	assert.Equal(t, []string{`{"a":1}`, `{"b":{"c":"]"}}`}, texts)
	head := items.Head()
	assert.Equal(t, "v1 PodList 7 x 5", strings.Join([]string{head.APIVersion, head.Kind, head.ResourceVersion, head.Continue}, " ")+" 5")
	assert.EqualValues(t, 5, *head.RemainingItemCount)

	for text, message := range map[string]string{
		`{"items":[{}`:                     "unexpected EOF",
		`{"items":[{}]`:                    "unexpected EOF",
		`{"items":[{},]}`:                  `expected a JSON object at byte 13 of the response, found ']'`,
		`{"items":[{} {}]}`:                `expected ',' at byte 13 of the response, found '{'`,
		`{"items":[nul]}`:                  "no JSON object",
		`{"items":[{}]}x`:                  `expected the end of the list at byte 14 of the response, found 'x'`,
		`{"kind":"Pod","apiVersion":"v1"}`: "not a list, but a Pod of v1 without items",
		`{"message":"hello"}`:              "not a list: it has neither items nor a kind",
		`{}`:                               "not a list, but an empty object",
		`{"items":{}}`:                     "cannot unmarshal",
		`{"metadata":5,"items":[]}`:        `a member of the list: `,
		`{5:1}`:                            "expected the name of a member",
		`<html>`:                           `expected '{' at byte 0 of the response, found '<'`,
	} {
		_, _, err := all(codec.Items(strings.NewReader(text)))
		assert.ErrorContains(t, err, message, text)
	}
	_, _, err = all(codec.Items(io.MultiReader(strings.NewReader(`{"items":[]}`), iotest.ErrReader(errLate))))
	assert.ErrorIs(t, err, errLate)
}
