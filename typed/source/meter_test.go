package source_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/kubetyped/informer/typed/source"
)

// TestDecodingTime: the time is that of all of a few frames, and an estimate of that of many.
func TestDecodingTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var meter source.Meter
		decode := func(frames int) (timed int) {
			for range frames {
				done := meter.Decode()
				time.Sleep(time.Millisecond)
				if done != nil {
					done()
					timed++
				}
			}
			return timed
		}
		assert.Equal(t, 1, decode(1))
		assert.Equal(t, source.Traffic{Frames: 1, Decoding: time.Millisecond}, meter.Traffic())
		assert.Equal(t, 15, decode(15))
		assert.Equal(t, source.Traffic{Frames: 16, Decoding: 16 * time.Millisecond}, meter.Traffic())
		assert.Equal(t, 10, decode(160))
		assert.Equal(t, source.Traffic{Frames: 176, Decoding: 176 * time.Millisecond}, meter.Traffic())
		meter.Read(7)
		meter.Read(-1)
		assert.EqualValues(t, 7, meter.Traffic().Bytes)

		var none *source.Meter
		none.Read(7)
		assert.Nil(t, none.Decode())
		assert.Zero(t, none.Traffic())
	})
}
