package shards

import (
	"context"
	"fmt"
	"math"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubetyped/informer/e2e/workload"
)

// many is from how many Pods on shares of heap, bytes and decoding are asserted. With fewer, the
// fixed share of each process is a large part, and so is chance.
const many = 10_000

// atRest is after which time a process that has given ranges away watches only those it has
// kept: every five seconds it checks whether its ranges have not changed for so long.
const atRest = 12 * time.Second

// cost is the cost of a process: its live heap, and the bytes and decoding of an update of each
// of its Pods.
type cost struct {
	objects  int
	live     uint64
	received uint64
	decoding time.Duration
}

// TestShares: three processes have a third each, of Pods, heap, bytes and decoding, of what
// one has alone; also the first of them, which had all until the others joined, and has given
// it away while Pods changed.
func TestShares(t *testing.T) {
	s := newScene(t)
	s.start("alone")
	s.settle("the start of one", "alone")
	whole := s.costs(1000, "alone")[0]
	s.process("alone").end()
	names := []string{"a", "b", "c"}
	s.start("a")
	s.settle("the start of a", "a")
	s.start("b", "c")
	s.settle("two join", names...)
	stop := s.update()
	time.Sleep(atRest)
	stop()
	for i, c := range s.costs(1001, names...) {
		n, share := float64(*podCount), 1/float64(len(names))
		most := share + max(0.05, 6*math.Sqrt(share*(1-share)/n))
		of := func(part, whole float64) string { return fmt.Sprintf("%.1f %%", 100*part/whole) }
		t.Logf("%s has %s of the Pods, %s of the heap (%.1f of %.1f MB), %s of the bytes and %s of the decoding of one that has all", names[i],
			of(float64(c.objects), n), of(float64(c.live), float64(whole.live)), float64(c.live)/1e6, float64(whole.live)/1e6,
			of(float64(c.received), float64(whole.received)), of(float64(c.decoding), float64(whole.decoding)))
		assert.LessOrEqual(t, float64(c.objects), most*n, "Pods of %s", names[i])
		assert.LessOrEqual(t, c.received, whole.received*2/3, "%s does not receive all", names[i])
		if *podCount >= many {
			assert.LessOrEqual(t, float64(c.received), most*float64(whole.received), "bytes of %s", names[i])
			assert.LessOrEqual(t, float64(c.live), most*float64(whole.live), "heap of %s", names[i])
			assert.LessOrEqual(t, float64(c.decoding), most*float64(whole.decoding), "decoding of %s", names[i])
		}
	}
	for _, name := range names {
		s.process(name).end()
	}
}

// costs returns what processes cost, which have all Pods together. Each Pod is updated once.
func (s *scene) costs(version int, identities ...string) []cost {
	s.t.Helper()
	before := make([]state, len(identities))
	frames := uint64(*podCount)
	for i, identity := range identities {
		before[i] = s.process(identity).state()
		frames += before[i].Frames
	}
	crew := workload.Crew{Workers: 16, Out: s.t.Output()}
	require.NoError(s.t, crew.Each(s.t.Context(), "update", "Pods", *podCount, func(ctx context.Context, i int) error {
		_, err := s.objects.UpdatePod(ctx, i, version, s.client.CoreV1().Pods)
		return err
	}))
	require.Eventually(s.t, func() bool {
		now := uint64(0)
		for _, identity := range identities {
			now += s.process(identity).state().Frames
		}
		return now >= frames
	}, time.Minute, 20*time.Millisecond, "all updates are received")
	costs := make([]cost, len(identities))
	for i, identity := range identities {
		p := s.process(identity)
		collected := p.state().Collected
		require.NoError(s.t, p.cmd.Process.Signal(syscall.SIGUSR1))
		require.Eventually(s.t, func() bool { return p.state().Collected > collected }, time.Minute, 10*time.Millisecond, "garbage is collected")
		now := p.state()
		costs[i] = cost{objects: now.Objects, live: now.Live, received: now.Received - before[i].Received, decoding: now.Decoding - before[i].Decoding}
	}
	return costs
}
