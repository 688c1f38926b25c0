package control_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubetyped/informer/index"
	"github.com/kubetyped/informer/internal/test/rig"
	"github.com/kubetyped/informer/internal/test/sinktest"
	"github.com/kubetyped/informer/queue"
	"github.com/kubetyped/informer/typed"
	"github.com/kubetyped/informer/typed/control"
	"github.com/kubetyped/informer/typed/report"
)

// controllers are several Runs with one informer.
type controllers struct {
	informer control.Informer
	results  map[string]chan error
	queues   map[string]*queue.WorkQueue[index.Key]
}

// start starts one whose function takes so long for a key.
func (c *controllers) start(t *testing.T, name string, takes time.Duration) context.CancelFunc {
	q, err := queue.NewWorkQueue[index.Key]()
	require.NoError(t, err)
	c.queues[name], c.results[name] = q, make(chan error, 1)
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		c.results[name] <- control.Run(ctx, control.WithInformers(c.informer),
			control.WithWorkers(q, 1, func(context.Context, index.Key) error { time.Sleep(takes); return nil }))
	}()
	synctest.Wait()
	return cancel
}

// countedRuns counts how often an informer is run.
type countedRuns struct {
	*typed.Informer[*rig.Thing]
	runs int
}

func (c *countedRuns) Run(ctx context.Context) error {
	c.runs++
	return c.Informer.Run(ctx)
}

// TestRunsWithOneInformer: an informer that several Runs were given runs until the last of
// them has drained its queue.
func TestRunsWithOneInformer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := rig.NewScript()
		informer := &countedRuns{Informer: typed.NewInformer(s)}
		c := &controllers{informer, map[string]chan error{}, map[string]*queue.WorkQueue[index.Key]{}}
		stopFirst := c.start(t, "first", 0)
		stopSecond := c.start(t, "second", 9*time.Second)
		sinktest.Replace(<-s.Started, "", []*rig.Thing{rig.At("a", 1)}, "1")
		synctest.Wait()
		c.queues["second"].Add(rig.Key("a"))
		stopFirst()
		require.NoError(t, <-c.results["first"])
		assert.Equal(t, report.PhaseSynced, informer.Phase(), "the second needs it")
		stopSecond()
		time.Sleep(8 * time.Second)
		assert.Equal(t, report.PhaseSynced, informer.Phase(), "it reconciles what is true")
		require.NoError(t, <-c.results["second"])
		assert.Equal(t, report.PhaseStopped, informer.Phase())
		assert.Equal(t, 1, informer.runs, "by the Run that it has itself")
		c.start(t, "late", 0)
		err := <-c.results["late"]
		assert.ErrorIs(t, err, typed.ErrStarted)
		assert.ErrorContains(t, err, "use WithSynced in place of WithInformers")
	})
}

// TestRunsWithAnInformerThatFails all end with its error.
func TestRunsWithAnInformerThatFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := rig.NewScript()
		c := &controllers{typed.NewInformer(s), map[string]chan error{}, map[string]*queue.WorkQueue[index.Key]{}}
		for _, name := range []string{"first", "second"} {
			c.start(t, name, 0)
		}
		s.Fail <- assert.AnError
		for _, result := range c.results {
			assert.ErrorIs(t, <-result, assert.AnError)
		}
	})
}
