package fleet

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"k8s.io/klog/v2"

	"github.com/kubetyped/informer/internal/goroutine"
	"github.com/kubetyped/informer/internal/loglimit"
	"github.com/kubetyped/informer/internal/monitor"
	"github.com/kubetyped/informer/typed/source"
)

// troubles are the failures to report to the informer, in order. A report calls functions of
// the user's, which may wait for clusters, so failures are noted under locks, and reported when
// these are free.
type troubles struct {
	mu      sync.Mutex
	failing clustersError   // guarded by mu; copied on write
	reports monitor.Reports // guarded by mu
}

// clustersError joins the failures of several clusters, in the order of their names. Its text
// has all of a few, and the first of many.
type clustersError []*ClusterError

// Error implements error.
func (e clustersError) Error() string {
	if len(e) <= few {
		return errors.Join(e.Unwrap()...).Error()
	}
	names := make([]string, len(e))
	for i, failed := range e {
		names[i] = failed.Cluster
	}
	return fmt.Sprintf("%d clusters fail: %s: %v", len(e), someOf(names), e[0])
}

// Unwrap returns the failures.
func (e clustersError) Unwrap() []error {
	all := make([]error, len(e))
	for i, failed := range e {
		all[i] = failed
	}
	return all
}

// few is how many clusters are named.
const few = 3

// someOf joins names, the first of them if there are many.
func someOf(names []string) string {
	if more := len(names) - few; more > 1 {
		return fmt.Sprintf("%s and %d others", strings.Join(names[:few], ", "), more)
	}
	return strings.Join(names, ", ")
}

// set notes the failure of a cluster, nil if it works, and reports whether that is news:
// that it works is news only if it has failed.
func (t *troubles) set(cluster string, failed *ClusterError) bool {
	at, ok := slices.BinarySearchFunc(t.failing, cluster, func(e *ClusterError, name string) int {
		return strings.Compare(e.Cluster, name)
	})
	switch {
	case failed != nil && ok:
		t.failing = slices.Clone(t.failing)
		t.failing[at] = failed
	case failed != nil:
		t.failing = slices.Insert(slices.Clip(t.failing), at, failed)
	case ok:
		t.failing = slices.Delete(slices.Clone(t.failing), at, at+1)
	}
	return failed != nil || ok
}

// note adds the failures to the reports that wait. The caller holds mu.
func (t *troubles) note() {
	switch len(t.failing) {
	case 0:
		t.reports.Add(nil)
	case 1:
		t.reports.Add(t.failing[0])
	default:
		t.reports.Add(t.failing)
	}
}

// changed reports the failures to the informer again.
func (t *troubles) changed() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.note()
}

// wait notes what the informer waits for.
func (t *troubles) wait(err *source.WaitingError) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.reports.Add(err)
}

// noteFailure notes whether a member fails, unless it has left. It looks under
// the lock, so that the last report is right.
func (g *group[T]) noteFailure(m *member[T]) {
	t := &g.troubles
	t.mu.Lock()
	defer t.mu.Unlock()
	var failed *ClusterError
	if g.member(m.name) == m {
		failed = m.health.failure()
	}
	if t.set(m.name, failed) || len(t.failing) == 0 {
		t.note()
	}
}

// report passes waiting reports to the informer, in their order. The caller holds no lock.
func (g *group[T]) report() {
	g.troubles.reports.Make(&g.troubles.mu, func(err error) {
		goroutine.Call(g.ctx, func() { g.sink.Report(err) })
	})
}

// log writes a line about the clusters that fail.
func (g *group[T]) log(s loglimit.Summary) {
	logger := klog.FromContext(g.ctx)
	if len(s.Failing) == 0 {
		logger.Info("Clusters of a fleet work again", "recovered", len(s.Recovered), "clusters", someOf(s.Recovered))
		return
	}
	logger.Info("Clusters of a fleet fail", "failing", len(s.Failing), "clusters", someOf(s.Failing), "since", s.Since, "err", s.Err, "recovered", len(s.Recovered))
}
