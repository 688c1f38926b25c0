package faults

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// TestDeadConnection lets connections die without being closed: the client has
// to notice by itself that nothing comes any more.
func TestDeadConnection(t *testing.T) {
	t.Parallel()
	s, p := broken(t)
	frozen := 0
	for range 3 {
		s.until("both watch", func() bool { return p.Watches("configmaps") >= 2 })
		requests := p.Requests("watch", "configmaps")
		frozen += p.FreezeConnections()
		s.until("both watch again", func() bool { return p.Requests("watch", "configmaps") >= requests+2 })
	}
	s.finish("connection dead without being closed", frozen)
}

// TestNetworkAway loses every byte for a while, in both directions, on new
// connections too.
func TestNetworkAway(t *testing.T) {
	t.Parallel()
	s, p := broken(t)
	const times = 2
	for range times {
		s.until("both watch", func() bool { return p.Watches("configmaps") >= 2 })
		resume := p.Blackhole()
		s.writes(5 * writeRate) // 5 s, longer than the pings take
		resume()
	}
	s.finish("network away for 5 s", times)
}

// TestConnectionsReset resets connections and refuses new ones for a while.
func TestConnectionsReset(t *testing.T) {
	t.Parallel()
	s, p := broken(t)
	reset := 0
	for range 5 {
		s.until("both watch", func() bool { return p.Watches("configmaps") == 2 })
		accept := p.Refuse()
		reset += p.ResetConnections()
		s.writes(writeRate)
		require.NoError(t, accept())
	}
	s.finish("connections reset, new ones refused for 1 s", reset)
}
