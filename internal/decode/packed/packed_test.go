package packed

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"runtime"
	"strings"
	"sync"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/kubetyped/informer/internal/heapsize"
	"github.com/kubetyped/informer/internal/test/pods"
)

// read returns the bytes of a record.
func read(t interface {
	require.TestingT
}, r Record) string {
	var text string
	require.NoError(t, r.Read(func(bytes []byte) error { text = string(bytes); return nil }))
	return text
}

// TestDeltas: a delta makes the text out of its base, whatever the two are, and is as short as
// it was asked to be.
func TestDeltas(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		// Few letters and copied parts, so that much is equal, in other places and overlapping.
		letters := rapid.SliceOfN(rapid.ByteRange('a', 'c'), 0, 300)
		base := letters.Draw(t, "base")
		var text []byte
		for range rapid.IntRange(0, 6).Draw(t, "parts") {
			if len(base) > 0 && rapid.Bool().Draw(t, "copied") {
				from := rapid.IntRange(0, len(base)-1).Draw(t, "from")
				text = append(text, base[from:rapid.IntRange(from, len(base)).Draw(t, "to")]...)
			} else {
				text = append(text, letters.Draw(t, "inserted")...)
			}
		}
		most := rapid.SampledFrom([]int{len(text) / 2, 2*len(text) + 20}).Draw(t, "most")
		delta, ok := new(differ).append([]byte("begins"), base, text, most)
		require.True(t, ok || most < len(text), "nothing is longer than that")
		if !ok {
			return
		}
		require.LessOrEqual(t, len(delta)-len("begins"), max(most, 5))
		require.EqualValues(t, len(text), textSize(string(delta[len("begins"):])))
		made, err := appendText([]byte("also "), base, string(delta[len("begins"):]))
		require.NoError(t, err)
		require.Equal(t, "also "+string(text), string(made))
	})
}

// FuzzDamagedDeltas: bytes that are no delta are an error, and no panic, and make no more than a
// delta can.
func FuzzDamagedDeltas(f *testing.F) {
	f.Add([]byte("a base that is long enough"), []byte{1, 'x', 8, 0})
	f.Add([]byte("a base"), []byte{0, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1, 1})
	f.Add([]byte("a base"), []byte{0, 1, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1})
	f.Fuzz(func(t *testing.T, base, delta []byte) {
		made, err := appendText(nil, base, string(delta))
		if size := textSize(string(delta)); err == nil && size != int64(len(made)) {
			t.Fatalf("%d bytes, not %d", len(made), size)
		}
		if err == nil && len(made) > len(delta)*(1+len(base)) {
			t.Fatalf("%d bytes of %d and %d", len(made), len(base), len(delta))
		}
	})
}

// TestRecordsModel: whatever objects come, go and change under whatever names, each record
// reads as what was packed, whichever bases have gone.
func TestRecordsModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := NewStore()
		records, want := map[string]Record{}, map[string]string{}
		pieces := []string{strings.Repeat("abcdefgh", 9), strings.Repeat("0123456789", 7), "a middle that is long enough", "x", strings.Repeat("zyxwvuts", 40)}
		t.Repeat(map[string]func(*rapid.T){
			"pack": func(t *rapid.T) {
				name := rapid.SampledFrom([]string{"a-1", "a-2", "a-3", "b-1", "b-2", "c"}).Draw(t, "name")
				text := strings.Join(rapid.SliceOf(rapid.SampledFrom(pieces)).Draw(t, "text"), "-")
				records[name], want[name] = s.Pack("namespace", name, []byte(text), records[name]), text
			},
			"delete": func(t *rapid.T) {
				name := rapid.SampledFrom([]string{"a-1", "a-2", "b-1", "c"}).Draw(t, "name")
				delete(records, name)
				delete(want, name)
			},
			"collect": func(t *rapid.T) {
				if rapid.IntRange(0, 9).Draw(t, "seldom") == 0 {
					runtime.GC()
				}
			},
			"": func(t *rapid.T) {
				for name, r := range records {
					require.Equal(t, want[name], read(t, r), name)
				}
			},
		})
	})
}

// podBytes are Pods as they are sent, perApp of each application.
func podBytes(t testing.TB, n, perApp int) (names []string, texts [][]byte) {
	cluster := pods.Cluster{PerApp: perApp, Namespaces: []string{"a", "b", "c"}, Nodes: 20}
	for i := range n {
		pod := cluster.Pod(i, 1)
		text, err := pod.Marshal()
		require.NoError(t, err)
		names, texts = append(names, pod.Namespace+"/"+pod.Name), append(texts, text)
	}
	return names, texts
}

// TestSiblingsAreSmall: of Pods that have 49 siblings, a fifth of the bytes is kept.
func TestSiblingsAreSmall(t *testing.T) {
	names, texts := podBytes(t, 1000, 50)
	s := NewStore()
	records, kept, sent := make([]Record, len(texts)), 0, 0
	bases := map[*base]bool{}
	for i, text := range texts {
		namespace, name, _ := strings.Cut(names[i], "/")
		records[i] = s.Pack(namespace, name, text, Record{})
		kept, sent = kept+len(records[i].data), sent+len(text)
		if b := records[i].base; b != nil && !bases[b] {
			bases[b] = true
			kept += len(b.data)
		}
	}
	for i, r := range records {
		require.Equal(t, string(texts[i]), read(t, r), names[i])
	}
	t.Logf("%d bytes a Pod of %d, %d bases", kept/len(texts), sent/len(texts), len(bases))
	require.Less(t, kept, sent/5)
	require.Less(t, len(bases), len(texts)/10)
}

// TestMeasure: a sum has the bytes that were sent, and each base and the root once.
func TestMeasure(t *testing.T) {
	names, texts := podBytes(t, 300, 20)
	s := NewStore()
	var sum heapsize.PackedSum
	raw, kept, bases := 0, 0, map[*base]bool{}
	for i, text := range append(texts, bytes.Repeat([]byte("long"), MostShared), nil) {
		r := s.Pack("ns", append(names, "long", "empty")[i], text, Record{})
		r.Add(&sum)
		raw, kept = raw+len(text), kept+len(r.data)
		if r.base != nil {
			require.EqualValues(t, len(text), textSize(r.data))
			bases[r.base] = true
		}
	}
	ofBases := len(*s.root.Load())
	for b := range bases {
		ofBases += len(b.data)
	}
	require.EqualValues(t, raw, sum.Raw)
	require.EqualValues(t, ofBases, sum.OfBases)
	require.EqualValues(t, kept+ofBases, sum.Bytes)
	require.Equal(t, len(bases), sum.Bases)
	require.Less(t, sum.Bytes, sum.Raw)
}

// TestSameBytesShareARecord: to pack what is packed takes no memory.
func TestSameBytesShareARecord(t *testing.T) {
	_, texts := podBytes(t, 3, 3)
	long := bytes.Repeat([]byte("0123456789abcdef"), MostShared/8)
	s := NewStore()
	for i, text := range [][]byte{texts[0], texts[1], texts[2], long, []byte("short")} {
		name := fmt.Sprintf("pod-%d", i)
		before := s.Pack("ns", name, text, Record{})
		again := s.Pack("ns", name, bytes.Clone(text), before)
		require.Equal(t, before, again)
		require.Same(t, unsafe.StringData(before.data), unsafe.StringData(again.data))
		require.Equal(t, string(text), read(t, before))
		require.NotZero(t, before)
	}
	require.Empty(t, read(t, Record{}))
}

// TestWorstCase: with content that is made to pin bases, each object keeps at most 2.5 times its
// bytes and 200 more: of each pair, one makes a long base, and leaves it to the other.
func TestWorstCase(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	noise := func(n int) []byte {
		text := make([]byte, n)
		for i := range text {
			text[i] = byte(random.Uint32())
		}
		return text
	}
	s := NewStore()
	pinned := 0
	for i := range 300 {
		long := noise(4000)
		for j, text := range [][]byte{
			append(long[:1040:1040], noise(960)...), // serves, and no more
			append(long[:300:300], noise(100)...),   // the base is too long
			append(long[:20:20], noise(1980)...),    // nearly nothing in common
		} {
			name := fmt.Sprintf("app%d-%d-", i, j)
			s.Pack("ns", name+"base", long, Record{})
			r := s.Pack("ns", name+"survivor", text, Record{})
			require.Equal(t, string(text), read(t, r))
			kept := len(r.data)
			if r.base != nil {
				kept += len(r.base.data)
			}
			require.LessOrEqual(t, float64(kept), 2.5*float64(len(text))+200)
			if kept > 2*len(text) {
				pinned++
			}
		}
	}
	require.NotZero(t, pinned, "no base was pinned: the test does not test")
}

// TestBasesLeave: bases that no record refers to any more are given back, and the table of
// them is bounded.
func TestBasesLeave(t *testing.T) {
	s := NewStore()
	kept := make([]Record, 0, 3*mostBases)
	for i := range 3 * mostBases {
		kept = append(kept, s.Pack("ns", fmt.Sprintf("app%d-1", i), []byte(fmt.Sprintf("object %d of many that are alike", i)), Record{}))
	}
	require.LessOrEqual(t, len(s.known), mostBases)
	before := kept[0].base
	clear(kept[1:])
	runtime.GC()
	alive := 0
	for _, of := range s.known {
		if b := of.Value(); b != nil && b != before {
			alive++
		}
	}
	require.Less(t, alive, 3)
	require.Equal(t, "object 0 of many that are alike", read(t, kept[0]))
}

// TestSeveralPackAtOnce, for the race detector.
func TestSeveralPackAtOnce(t *testing.T) {
	names, texts := podBytes(t, 200, 20)
	s := NewStore()
	var wg sync.WaitGroup
	for g := range 4 {
		wg.Go(func() {
			for i := range texts {
				i = (i*7 + g*50) % len(texts)
				r := s.Pack("ns", names[i], texts[i], Record{})
				if err := r.Read(func(text []byte) error {
					if !bytes.Equal(text, texts[i]) {
						return fmt.Errorf("%s: other bytes", names[i])
					}
					return nil
				}); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
}

func BenchmarkPack(b *testing.B) {
	names, texts := podBytes(b, 1000, 50)
	s := NewStore()
	records := make([]Record, len(texts))
	for i := 0; b.Loop(); i++ {
		n := i % len(texts)
		records[n] = s.Pack("ns", names[n], texts[n], Record{})
	}
}

func BenchmarkRead(b *testing.B) {
	names, texts := podBytes(b, 1000, 50)
	s := NewStore()
	records := make([]Record, len(texts))
	for n := range texts {
		records[n] = s.Pack("ns", names[n], texts[n], Record{})
	}
	for i := 0; b.Loop(); i++ {
		if records[i%len(texts)].Read(func([]byte) error { return nil }) != nil {
			b.Fatal("an error")
		}
	}
}
