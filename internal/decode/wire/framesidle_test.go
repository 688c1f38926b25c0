package wire_test

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"testing"
	"weak"

	goruntime "runtime"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/framer"
)

// endsIn calls a function before it ends.
type endsIn func()

// Read implements io.Reader.
func (f endsIn) Read([]byte) (int, error) {
	f()
	return 0, io.EOF
}

// TestFramesAreFreed: while the next frame is waited for, which may take hours, the memory of
// the last one is free, whether it is long or not.
func TestFramesAreFreed(t *testing.T) {
	for _, size := range []int{3_000, 200_000} {
		t.Run(fmt.Sprint(size), func(t *testing.T) { testFramesAreFreed(t, size) })
	}
}

// frameOf returns a watch of one frame of a size, in each format.
func frameOf(t *testing.T, size int) map[string]string {
	var protobuf bytes.Buffer
	text := strings.Repeat("x", size)
	_, err := framer.NewLengthDelimitedFrameWriter(&protobuf).Write([]byte(text))
	require.NoError(t, err)
	return map[string]string{runtime.ContentTypeProtobuf: protobuf.String(), runtime.ContentTypeJSON: fmt.Sprintf(`{"a":%q}`, text)}
}

func testFramesAreFreed(t *testing.T, size int) {
	for mediaType, text := range frameOf(t, size) {
		t.Run(mediaType, func(t *testing.T) {
			var held weak.Pointer[byte]
			waits, freed := false, false
			frames := codecOf[*corev1.Pod](t, mediaType).Frames(io.MultiReader(strings.NewReader(text), endsIn(func() {
				for range 3 { // a sync.Pool keeps things for two collections
					goruntime.GC()
				}
				waits, freed = true, held.Value() == nil
			})))
			frame, err := frames.Next()
			require.NoError(t, err)
			require.GreaterOrEqual(t, len(frame), size)
			held = weak.Make(&frame[0])
			_, err = frames.Next()
			assert.Equal(t, io.EOF, err)
			assert.True(t, waits)
			assert.True(t, freed)
		})
	}
}
