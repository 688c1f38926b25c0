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

// TestLongFramesAreFreed: while the next frame is waited for, which may take hours, the memory of
// a long one is free.
func TestLongFramesAreFreed(t *testing.T) {
	var protobuf bytes.Buffer
	long := strings.Repeat("long", 50_000)
	_, err := framer.NewLengthDelimitedFrameWriter(&protobuf).Write([]byte(long))
	require.NoError(t, err)
	for mediaType, text := range map[string]string{
		runtime.ContentTypeProtobuf: protobuf.String(),
		runtime.ContentTypeJSON:     fmt.Sprintf(`{"a":%q}`, long),
	} {
		t.Run(mediaType, func(t *testing.T) {
			var held weak.Pointer[byte]
			waits, freed := false, false
			frames := codecOf[*corev1.Pod](t, mediaType).Frames(io.MultiReader(strings.NewReader(text), endsIn(func() {
				goruntime.GC()
				waits, freed = true, held.Value() == nil
			})))
			frame, err := frames.Next()
			require.NoError(t, err)
			require.GreaterOrEqual(t, len(frame), len(long))
			held = weak.Make(&frame[0])
			_, err = frames.Next()
			assert.Equal(t, io.EOF, err)
			assert.True(t, waits)
			assert.True(t, freed)
		})
	}
}
