package views

import "sync/atomic"

// meter counts results, and tells when there are as many as are waited for.
type meter struct {
	count  atomic.Int64
	target atomic.Int64
	ended  chan struct{}
}

func newMeter() *meter { return &meter{ended: make(chan struct{}, 1)} }

// expect begins anew, to wait for n.
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
