package typed_test

import (
	"errors"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubetyped/informer/internal/test/rig"
	"github.com/kubetyped/informer/internal/test/sinktest"
)

// reporting is a follower that calls a function with each report.
type reporting struct {
	followed
	report func(err error)
}

func (f *reporting) Report(err error) { f.report(err) }

// meanwhile calls a function in another goroutine, and returns when the call has returned, or has
// had the time to.
func meanwhile(running *sync.WaitGroup, call func()) {
	var returned atomic.Bool
	running.Go(func() {
		call()
		returned.Store(true)
	})
	for i := 0; i < 10_000 && !returned.Load(); i++ {
		runtime.Gosched()
	}
}

var errNoContact = errors.New("no contact")

// TestNoReportAfterUnfollow: if a follower is removed while another one receives a report, it
// receives that before Unfollow returns, or not at all.
func TestNoReportAfterUnfollow(t *testing.T) {
	r := rig.New(t)
	r.Start()
	sinktest.Replace(r.Sink, "", nil, "1")
	require.NoError(t, r.WaitForSync(t.Context()))
	var unfollowing sync.WaitGroup
	var removed, late atomic.Bool
	var unfollow func()
	_, err := r.Follow(&reporting{report: func(err error) {
		if err != nil {
			meanwhile(&unfollowing, func() {
				unfollow()
				removed.Store(true)
			})
		}
	}})
	require.NoError(t, err)
	unfollow, err = r.Follow(&reporting{report: func(error) { late.Store(late.Load() || removed.Load()) }})
	require.NoError(t, err)
	r.Sink.Report(errNoContact)
	unfollowing.Wait()
	assert.False(t, late.Load())
}

// TestReportWhileAFollowerIsAdded: a follower receives the error that the source reports at the same
// time.
func TestReportWhileAFollowerIsAdded(t *testing.T) {
	r := rig.New(t)
	r.Start()
	sinktest.Replace(r.Sink, "", nil, "1")
	require.NoError(t, r.WaitForSync(t.Context()))
	var source sync.WaitGroup
	var reports []error // guarded by the informer: reports follow one another
	_, err := r.Follow(&reporting{report: func(err error) {
		reports = append(reports, err)
		if len(reports) == 1 {
			meanwhile(&source, func() { r.Sink.Report(errNoContact) })
		}
	}})
	require.NoError(t, err)
	source.Wait()
	assert.Equal(t, []error{nil, errNoContact}, reports)
	assert.ErrorIs(t, r.Status().Err, errNoContact)
}
