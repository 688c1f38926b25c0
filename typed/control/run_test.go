package control_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubetyped/informer/queue"
	"github.com/kubetyped/informer/typed/control"
)

// diary writes down what happens, in order.
type diary struct {
	mu      sync.Mutex
	entries []string
}

func (d *diary) write(entry string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.entries = append(d.entries, entry)
}

// read returns what was written since the last time, after everything has come to
// rest.
func (d *diary) read() []string {
	synctest.Wait()
	d.mu.Lock()
	defer d.mu.Unlock()
	entries := d.entries
	d.entries = nil
	return entries
}

// fakeInformer is synced and ends when the test says so.
type fakeInformer struct {
	*diary
	synced chan struct{}
	failed chan error
}

func newFakeInformer(d *diary) *fakeInformer {
	return &fakeInformer{diary: d, synced: make(chan struct{}), failed: make(chan error, 1)}
}

func (i *fakeInformer) Name() string { return "pods" }

func (i *fakeInformer) Run(ctx context.Context) error {
	i.write("informer starts")
	defer i.write("informer stops")
	select {
	case <-ctx.Done():
		return nil
	case err := <-i.failed:
		return err
	}
}

var errNotSynced = errors.New("informer pods: not synced: forbidden")

func (i *fakeInformer) WaitForSync(ctx context.Context) error {
	select {
	case <-i.synced:
		return nil
	case <-ctx.Done():
		return errNotSynced
	}
}

var errRenewal = errors.New("the lease is not renewed")

// fakeElector leads when the test says so.
type fakeElector struct {
	*diary
	elected chan struct{}
	lost    chan struct{}
	err     error
}

func newFakeElector(d *diary) *fakeElector {
	return &fakeElector{diary: d, elected: make(chan struct{}), lost: make(chan struct{})}
}

func (e *fakeElector) Elect(ctx context.Context, lead func(ctx context.Context)) error {
	if e.err != nil {
		return e.err
	}
	defer e.write("resigns")
	select {
	case <-e.elected:
	case <-ctx.Done():
		return ctx.Err()
	}
	leading, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	go func() {
		select {
		case <-e.lost:
			cancel(errRenewal)
		case <-leading.Done():
		}
	}()
	lead(leading)
	return nil
}

// scene is a controller that runs in a bubble.
type scene struct {
	*diary
	informer *fakeInformer
	queue    *queue.WorkQueue[string]
	stop     context.CancelFunc
	result   chan error
}

// start runs a controller whose reconcile function takes nine seconds for a key.
func start(t *testing.T, opts ...control.RunOption) *scene {
	s := &scene{diary: &diary{}, result: make(chan error, 1)}
	return s.start(t, opts...)
}

func (s *scene) start(t *testing.T, opts ...control.RunOption) *scene {
	s.informer = newFakeInformer(s.diary)
	q, err := queue.NewWorkQueue[string]()
	require.NoError(t, err)
	s.queue = q
	ctx, cancel := context.WithCancel(t.Context())
	s.stop = cancel
	opts = append([]control.RunOption{
		control.WithInformers(s.informer),
		control.WithWorkers(q, 1, func(ctx context.Context, key string) error {
			s.write("reconciles " + key)
			select {
			case <-time.After(9 * time.Second):
				s.write("has reconciled " + key)
			case <-ctx.Done():
				s.write("gives up " + key)
			}
			return nil
		}),
	}, opts...)
	go func() { s.result <- control.Run(ctx, opts...) }()
	t.Cleanup(cancel)
	return s
}

// TestRunOrder: informers first, then workers, and the other way round at the end,
// with what waits being reconciled.
func TestRunOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := start(t)
		s.queue.Add("a")
		s.queue.Add("b")
		assert.Equal(t, []string{"informer starts"}, s.read())
		close(s.informer.synced)
		assert.Equal(t, []string{"reconciles a"}, s.read())
		s.stop()
		assert.Empty(t, s.read())
		s.queue.Add("c") // is not let in any more
		require.NoError(t, <-s.result)
		assert.Equal(t, []string{"has reconciled a", "reconciles b", "has reconciled b", "informer stops"}, s.read())
	})
}

// TestRunDrainTimeout: the calls' contexts end after the time-out.
func TestRunDrainTimeout(t *testing.T) {
	for _, test := range []struct {
		name    string
		opts    []control.RunOption
		lasting time.Duration
	}{
		{"default", nil, 20 * time.Second},
		{"15s", []control.RunOption{control.WithDrainTimeout(15 * time.Second)}, 15 * time.Second},
		{"none", []control.RunOption{control.WithDrainTimeout(0)}, 0},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := start(t, test.opts...)
				for _, key := range []string{"a", "b", "c", "d"} {
					s.queue.Add(key)
				}
				close(s.informer.synced)
				s.read()
				stopped := time.Now()
				s.stop()
				err := <-s.result
				assert.Equal(t, test.lasting, time.Since(stopped))
				require.ErrorIs(t, err, context.DeadlineExceeded)
				assert.ErrorContains(t, err, "the drain was given up after "+test.lasting.String())
				entries := s.read()
				assert.Equal(t, "informer stops", entries[len(entries)-1])
				assert.Contains(t, entries[len(entries)-2], "gives up")
			})
		})
	}
}

// leavingInformer is a member of a group that others never take over from.
type leavingInformer struct{ *fakeInformer }

func (i leavingInformer) Leave(ctx context.Context) {
	<-ctx.Done()
	i.write("has left")
}

// TestRunHandsOver: workers continue while members leave, for half of the drain timeout at most,
// and have the other half to drain.
func TestRunHandsOver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &scene{diary: &diary{}, result: make(chan error, 1)}
		member := leavingInformer{newFakeInformer(s.diary)}
		close(member.synced)
		s.start(t, control.WithInformers(member))
		close(s.informer.synced)
		s.queue.Add("a")
		s.read()
		s.stop()
		time.Sleep(9500 * time.Millisecond)
		s.queue.Add("b")
		assert.Equal(t, []string{"has reconciled a", "reconciles b"}, s.read())
		time.Sleep(time.Second)
		s.queue.Add("c") // is not let in any more
		assert.Equal(t, []string{"has left"}, s.read())
		require.NoError(t, <-s.result)
		assert.Equal(t, []string{"has reconciled b", "informer stops", "informer stops"}, s.read())
	})
}

// TestRunNotSynced: the reason comes back, and no worker has started.
func TestRunNotSynced(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := start(t)
		s.queue.Add("a")
		s.read()
		s.stop()
		require.ErrorIs(t, <-s.result, errNotSynced)
		assert.Equal(t, []string{"informer stops"}, s.read())
	})
}

// TestRunInformerEnds: all else stops, after a drain.
func TestRunInformerEnds(t *testing.T) {
	gone := errors.New("the resource is gone")
	for _, test := range []struct{ ends, want error }{{gone, gone}, {fmt.Errorf("informer pods: %w", gone), gone}, {nil, control.ErrEnded}} {
		synctest.Test(t, func(t *testing.T) {
			s := start(t)
			close(s.informer.synced)
			s.queue.Add("a")
			s.read()
			s.informer.failed <- test.ends
			err := <-s.result
			require.ErrorIs(t, err, test.want)
			assert.Equal(t, 1, strings.Count(err.Error(), "informer pods: "), err)
			assert.Equal(t, []string{"informer stops", "has reconciled a"}, s.read())
		})
	}
}

// TestRunQueueEnds: shutting down a queue from outside ends the program.
func TestRunQueueEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := start(t)
		close(s.informer.synced)
		s.read()
		s.queue.ShutDown()
		err := <-s.result
		require.ErrorIs(t, err, control.ErrEnded)
		assert.ErrorContains(t, err, "work queue string: ")
		assert.Equal(t, []string{"informer stops"}, s.read())
	})
}

// TestRunWorkersEnd: no keys are waited for that no worker is left for. Other queues are drained.
func TestRunWorkersEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q, err := queue.NewWorkQueue[string](queue.WithName("pods"))
		require.NoError(t, err)
		for i := range 3 {
			q.Add(fmt.Sprint(i))
		}
		s := start(t, control.WithWorkers(q, 2, func(context.Context, string) error {
			runtime.Goexit()
			return nil
		}))
		s.queue.Add("a")
		assert.Equal(t, []string{"informer starts"}, s.read())
		close(s.informer.synced)
		err = <-s.result
		assert.ErrorContains(t, err, "work queue pods: its workers have all ended by runtime.Goexit")
		assert.ErrorContains(t, err, "the drain has failed: work queue pods: drain ended early (keys waiting: 1, in process: 0): no workers are left")
		assert.Equal(t, []string{"reconciles a", "has reconciled a", "informer stops"}, s.read())
	})
}

// TestRunElected: informers run while the process waits for the lead, which it gives
// up after the drain and before the informers stop.
func TestRunElected(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &scene{diary: &diary{}, result: make(chan error, 1)}
		elector := newFakeElector(s.diary)
		s.start(t, control.WithElector(elector))
		close(s.informer.synced)
		s.queue.Add("a")
		assert.Equal(t, []string{"informer starts"}, s.read())
		close(elector.elected)
		assert.Equal(t, []string{"reconciles a"}, s.read())
		s.stop()
		require.NoError(t, <-s.result)
		assert.Equal(t, []string{"has reconciled a", "resigns", "informer stops"}, s.read())
	})
}

// TestRunNeverElected: it stops while it waits.
func TestRunNeverElected(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &scene{diary: &diary{}, result: make(chan error, 1)}
		s.start(t, control.WithElector(newFakeElector(s.diary)))
		close(s.informer.synced)
		s.queue.Add("a")
		s.queue.AddAfter("b", time.Hour) // by a goroutine of the queue
		s.read()
		s.stop()
		require.NoError(t, <-s.result)
		assert.Equal(t, []string{"resigns", "informer stops"}, s.read())
		assert.True(t, s.queue.ShuttingDown())
	})
}

// TestRunLeadLost: calls end at once, and the error has the cause.
func TestRunLeadLost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &scene{diary: &diary{}, result: make(chan error, 1)}
		elector := newFakeElector(s.diary)
		s.start(t, control.WithElector(elector))
		close(s.informer.synced)
		close(elector.elected)
		s.queue.Add("a")
		s.queue.Add("b")
		s.read()
		lost := time.Now()
		close(elector.lost)
		err := <-s.result
		require.ErrorIs(t, err, control.ErrLeadLost)
		require.ErrorIs(t, err, errRenewal)
		assert.Zero(t, time.Since(lost))
		assert.Equal(t, []string{"gives up a", "resigns", "informer stops"}, s.read())
	})
}

// TestRunLeadLostInDrain: it is lost as at any other time, whether keys are left or not.
func TestRunLeadLostInDrain(t *testing.T) {
	for name, keys := range map[string][]string{"keys are left": {"a", "b"}, "none is left": {"a"}} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := &scene{diary: &diary{}, result: make(chan error, 1)}
				elector := newFakeElector(s.diary)
				s.start(t, control.WithElector(elector))
				close(s.informer.synced)
				close(elector.elected)
				for _, key := range keys {
					s.queue.Add(key)
				}
				s.read()
				s.stop()
				synctest.Wait()
				close(elector.lost)
				err := <-s.result
				require.ErrorIs(t, err, control.ErrLeadLost)
				require.ErrorIs(t, err, errRenewal)
				assert.NotContains(t, err.Error(), "20s", "the time is not over")
				assert.Equal(t, []string{"gives up a", "resigns", "informer stops"}, s.read())
			})
		})
	}
}

// lateElector leads at the moment at which its context ends.
type lateElector struct{ *diary }

func (e lateElector) Elect(ctx context.Context, lead func(ctx context.Context)) error {
	<-ctx.Done()
	lead(ctx)
	e.write("resigns")
	return nil
}

// TestRunElectedTooLate: workers that would have to end at once are not started, and what waits
// is no failure.
func TestRunElectedTooLate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &scene{diary: &diary{}, result: make(chan error, 1)}
		s.start(t, control.WithElector(lateElector{s.diary}))
		close(s.informer.synced)
		s.queue.Add("a")
		s.read()
		s.stop()
		require.NoError(t, <-s.result)
		assert.Equal(t, []string{"resigns", "informer stops"}, s.read())
		assert.True(t, s.queue.ShuttingDown())
	})
}

// TestRunElectionFails: the reason comes back.
func TestRunElectionFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &scene{diary: &diary{}, result: make(chan error, 1)}
		elector := newFakeElector(s.diary)
		elector.err = errors.New("leases are forbidden")
		s.start(t, control.WithElector(elector))
		close(s.informer.synced)
		err := <-s.result
		require.ErrorIs(t, err, elector.err)
		assert.Equal(t, []string{"informer starts", "informer stops"}, s.read())
	})
}

// TestRunInput: nothing runs if an option cannot be used.
func TestRunInput(t *testing.T) {
	q, err := queue.NewWorkQueue[string]()
	require.NoError(t, err)
	reconcile := func(context.Context, string) error { return nil }
	for message, opts := range map[string][]control.RunOption{
		"option is nil":                          {nil},
		"it has no workers, see WithWorkers":     {control.WithDrainTimeout(time.Second)},
		"WithInformers: informer is nil":         {control.WithInformers(nil)},
		"what is to be synced is nil":            {control.WithSynced(nil)},
		"queue is nil":                           {control.WithWorkers[string](nil, 1, reconcile)},
		"run by 0 workers, the least is 1":       {control.WithWorkers(q, 0, reconcile)},
		"WithWorkers: reconcile function is nil": {control.WithWorkers(q, 1, nil)},
		"WithElector: elector is nil":            {control.WithElector(nil)},
		"elector is nil":                         {control.WithElector((*fakeElector)(nil))},
		"informer is nil":                        {control.WithInformers((*fakeInformer)(nil))},
		"WithWorkers: queue is nil":              {control.WithWorkers((*queue.WorkQueue[string])(nil), 1, reconcile)},
		"the drain timeout -1s is negative":      {control.WithDrainTimeout(-time.Second)},
	} {
		err := control.Run(t.Context(), opts...)
		require.Error(t, err, message)
		assert.ErrorContains(t, err, message)
	}
}
