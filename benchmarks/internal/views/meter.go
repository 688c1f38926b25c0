package views

import "sync/atomic"

// meter counts results, and signals when as many as expected have come.
type meter struct {
	count  atomic.Int64
	target atomic.Int64
	ended  chan struct{}
}

func newMeter() *meter { return &meter{ended: make(chan struct{}, 1)} }

// expect resets the count, to wait for n.
func (m *meter) expect(n int) {
	m.count.Store(0)
	m.target.Store(int64(n))
}

func (m *meter) add() {
	if m.count.Add(1) == m.target.Load() {
		m.ended <- struct{}{}
	}
}

func (m *meter) wait() { <-m.ended }
