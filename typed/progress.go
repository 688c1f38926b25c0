package typed

import "sync/atomic"

// progress is how far the latest list has come.
type progress struct {
	received, expected atomic.Int64
}

func (p *progress) note(received, expected int) {
	p.received.Store(int64(received))
	p.expected.Store(int64(expected))
}
