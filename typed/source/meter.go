package source

import (
	"sync/atomic"
	"time"
)

// Traffic is what a source has received since it was first run.
type Traffic struct {
	// Bytes is the size of the answers to lists and watches as they were read, after
	// decompression, and Frames the number of objects and other events in them.
	Bytes, Frames uint64
	// Decoding is the time that it took to decode them, on all goroutines together,
	// estimated from one frame of every sixteen after the first sixteen.
	Decoding time.Duration
}

// Meter counts the traffic of a source. A nil Meter counts nothing. Methods are safe for
// concurrent use.
type Meter struct {
	bytes, frames atomic.Uint64
	decoding      atomic.Int64
}

// Read notes that some bytes were read.
func (m *Meter) Read(bytes int) {
	if m != nil && bytes > 0 {
		m.bytes.Add(uint64(bytes))
	}
}

// sampled is how many frames there are for each whose decoding is timed, after as many that are
// timed each, as a source may have no more.
const sampled = 16

// Decode notes that a frame is being decoded, and returns what is to be called when it has
// been, nil if the time of this one is not of interest.
func (m *Meter) Decode() (done func()) {
	if m == nil {
		return nil
	}
	weight := int64(1)
	if frame := m.frames.Add(1); frame > sampled {
		if weight = sampled; frame%sampled != 0 {
			return nil
		}
	}
	began := time.Now()
	return func() { m.decoding.Add(weight * int64(time.Since(began))) }
}

// Traffic returns what was counted.
func (m *Meter) Traffic() Traffic {
	if m == nil {
		return Traffic{}
	}
	return Traffic{Bytes: m.bytes.Load(), Frames: m.frames.Load(), Decoding: time.Duration(m.decoding.Load())}
}
