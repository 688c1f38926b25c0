package wire_test

import (
	"io"
	goruntime "runtime"
	"sync"
	"testing"
	"weak"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"

	"github.com/kubetyped/informer/internal/decode/wire"
)

// burst is frames that arrive together, and then none for long.
type burst struct {
	frames [][]byte
	next   int
	wait   func() // called when the next frame is waited for
}

func (b *burst) Next() ([]byte, error) {
	if b.next == len(b.frames) {
		b.wait()
		return nil, io.EOF
	}
	b.next++
	return b.frames[b.next-1], nil
}

func (b *burst) Offset() int64 { return int64(b.next) }

func (b *burst) Buffered() int {
	size := 0
	for _, frame := range b.frames[b.next:] {
		size += len(frame)
	}
	return size
}

// TestChunksAreFreed: the memory in which frames were handed to decoders is free while the next
// frame is waited for.
func TestChunksAreFreed(t *testing.T) {
	const frames = 100
	source := &burst{}
	for range frames {
		source.frames = append(source.frames, make([]byte, 1000))
	}
	var mu sync.Mutex
	var copies []weak.Pointer[byte]
	decode := func(frame []byte) (int, error) {
		mu.Lock()
		defer mu.Unlock()
		copies = append(copies, weak.Make(&frame[0]))
		return 0, nil
	}
	emitted, all := 0, make(chan struct{})
	emit := func(int) bool {
		if emitted++; emitted == frames {
			close(all)
		}
		return true
	}
	held := 0
	source.wait = func() {
		<-all
		source.frames = nil // the last one may have been decoded in place
		for range 3 {       // a sync.Pool keeps things for two collections
			goruntime.GC()
		}
		for _, c := range copies {
			if c.Value() != nil {
				held++
			}
		}
	}
	require.NoError(t, wire.NewPipeline(2, decode, emit, func() {}).Run(source))
	assert.Len(t, copies, frames)
	assert.Zero(t, held)
}

// alone is one text that arrives again and again, never two at once.
type alone struct {
	text string
	at   int
}

func (a *alone) Read(p []byte) (int, error) {
	n := copy(p, a.text[a.at:])
	a.at = (a.at + n) % len(a.text)
	return n, nil
}

// TestFramesUseBuffersAgain: frames that arrive alone, of up to 40 kB, cost no buffer each.
func TestFramesUseBuffersAgain(t *testing.T) {
	if !timed {
		t.Skip("a sync.Pool drops things at random under the race detector")
	}
	for _, size := range []int{3_000, 12_000, 40_000} {
		for mediaType, text := range frameOf(t, size) {
			frames := codecOf[*corev1.Pod](t, mediaType).Frames(&alone{text: text})
			var before, after goruntime.MemStats
			goruntime.ReadMemStats(&before)
			for range 1000 {
				_, err := frames.Next()
				require.NoError(t, err)
			}
			goruntime.ReadMemStats(&after)
			assert.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(1000*size/10), "%s, %d bytes", mediaType, size)
		}
	}
}
