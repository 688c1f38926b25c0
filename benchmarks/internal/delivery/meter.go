package delivery

// Meter counts the events that one handler has got. It is the handler's while
// events are sent.
type Meter struct {
	progress, ended chan<- struct{}
	count, target   int
	_               [32]byte // keeps the counts of two handlers out of one cache line
}

// Add counts one more event.
func (m *Meter) Add() {
	m.count++
	if m.count%stride == 0 {
		m.progress <- struct{}{}
	}
	if m.count == m.target {
		m.ended <- struct{}{}
	}
}

// Count returns how many events the handler has got since sending began.
func (m *Meter) Count() int { return m.count }
