package faults

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/kubetyped/informer/e2e/proxy"
)

const (
	cuts   = 1000 // watches that end between two events
	resets = 100  // times that the connections of all watches are reset
	breaks = 3    // times that all watches break off with an error of the stream
)

// TestWatchCut ends watches after one to twenty events, as a server does that
// has served them long enough.
func TestWatchCut(t *testing.T) {
	s, p := broken(t)
	fault := p.Inject(proxy.Fault{Verb: "watch", Resource: "configmaps", End: proxy.Clean, After: 1, UpTo: 20, Seed: 7})
	// The watches that are open do not have the fault. One that ends at once,
	// without an event, would be taken for a failure.
	s.until("both have seen an event", func() bool {
		for _, o := range s.observers {
			if all, _ := o.stream.Events(); all <= population {
				return false
			}
		}
		return true
	})
	p.CutWatches("configmaps", proxy.Clean)
	s.until("watches are cut", func() bool { return p.Cuts("configmaps") >= cuts })
	fault.Remove()
	s.finish("watch cut after 1 to 20 events", p.Cuts("configmaps"))
	for _, o := range s.observers {
		_, relisted := o.stream.Events()
		assert.Zero(t, relisted, "%s went on from the last version each time", o.name)
	}
}

// TestConnectionReset resets the connections of open watches.
func TestConnectionReset(t *testing.T) {
	s, p := broken(t)
	n := 0
	for range resets {
		s.until("both watch", func() bool { return p.Watches("configmaps") == 2 })
		s.writes(3)
		n += p.ResetConnections()
	}
	s.finish("connection reset under open watches", n)
}

// TestWatchBroken breaks watches off with an error of the HTTP/2 stream, between
// two events and in the middle of one. client-go's Reflector then lists again,
// and waits longer each time.
func TestWatchBroken(t *testing.T) {
	for _, how := range []proxy.Ending{proxy.Abrupt, proxy.Torn} {
		t.Run(how.String(), func(t *testing.T) {
			t.Parallel()
			s, p := broken(t)
			for range breaks {
				s.until("both watch", func() bool { return p.Watches("configmaps") == 2 })
				s.writes(50)
				p.CutWatches("configmaps", how)
			}
			s.finish(map[proxy.Ending]string{
				proxy.Abrupt: "watch broken off between two events",
				proxy.Torn:   "watch broken off in the middle of an event",
			}[how], p.Cuts("configmaps"))
		})
	}
}
