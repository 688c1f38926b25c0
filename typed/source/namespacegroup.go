package source

import (
	"errors"
	"maps"
	"slices"
	"sync"

	"k8s.io/apimachinery/pkg/util/resourceversion"

	"github.com/kubetyped/informer/index"
	"github.com/kubetyped/informer/internal/monitor"
)

// namespaceGroup contains the namespaces of one informer, and brings their reports into one
// order. The lock is held through each report of objects, so that the version that comes with
// it is the one that this report and all before it reach. Reports of failures and recoveries
// call functions of the user's, which may wait for other namespaces, so they are queued under
// the lock, and made in that order when it is free.
type namespaceGroup[T index.Object] struct {
	sink     Sink[T]
	reported *reportedVersions
	stays    *stays

	mu      monitor.LongLock
	byName  map[string]*namespaceSink[T] // guarded by mu
	synced  bool                         // guarded by mu: the first Replace was reported
	ended   bool                         // guarded by mu
	version string                       // guarded by mu; that was reported last
	exact   bool                         // guarded by mu: version is the lowest of all
	changed sync.Cond                    // on mu: synced, ended, or some namespace's removed has changed
	reports monitor.Reports              // guarded by mu: for Sink.Report
}

func newNamespaceGroup[T index.Object](sink Sink[T], reported *reportedVersions, stays *stays) *namespaceGroup[T] {
	all := &namespaceGroup[T]{sink: sink, reported: reported, stays: stays, mu: monitor.NewLongLock(), byName: map[string]*namespaceSink[T]{}}
	all.changed.L = all.mu
	return all
}

// report makes the queued reports, in their order. The caller does not hold mu.
func (all *namespaceGroup[T]) report() { all.reports.Make(all.mu, all.sink.Report) }

// end releases the goroutines that wait for the informer to sync.
func (all *namespaceGroup[T]) end() {
	all.mu.Lock()
	defer all.mu.Unlock()
	all.ended = true
	all.changed.Broadcast()
}

// remove takes a namespace out. The caller holds mu, and makes the queued reports afterwards.
func (all *namespaceGroup[T]) remove(s *namespaceSink[T]) {
	s.removed, s.first, s.unconfirmed = true, List{}, nil
	delete(all.byName, s.namespace)
	all.reported.set(s.namespace, "")
	all.stays.leave(s.namespace)
	s.cancel()
	all.changed.Broadcast()
	if all.synced {
		all.sink.Replace(List{Namespace: s.namespace, Reason: index.OutOfScope}, all.advance())
	}
	if s.err != nil {
		all.reports.Add(all.trouble())
	}
}

// syncIfListed makes the first report, when all namespaces have been listed. The caller holds
// mu, and makes the queued reports afterwards.
func (all *namespaceGroup[T]) syncIfListed() {
	if all.synced {
		return
	}
	for _, s := range all.byName {
		if s.isAwaited() {
			return
		}
	}
	all.synced = true
	all.sink.Replace(all.takeFirst(), all.advance())
	for _, s := range all.byName {
		all.reported.set(s.namespace, s.version)
	}
	if len(all.byName) > 1 {
		all.sink.Step(nil, "", nil)
	}
	for _, s := range all.byName {
		for _, done := range s.unconfirmed {
			all.sink.Step(nil, "", done)
		}
		s.unconfirmed = nil
	}
	if err := all.trouble(); err != nil { // a watch that has failed since its list
		all.reports.Add(err)
	}
	all.changed.Broadcast()
}

// passOver stops waiting for a namespace. It reports whether that has synced the informer, so
// that all failures are queued. The caller holds mu, and has them reported.
func (all *namespaceGroup[T]) passOver() bool {
	if !all.synced {
		all.syncIfListed()
		return all.synced
	}
	if version := all.advance(); version != "" {
		all.sink.Step(nil, version, nil)
	}
	return false
}

// takeFirst returns the first lists of all namespaces as one. The caller holds mu.
func (all *namespaceGroup[T]) takeFirst() (l List) {
	size := 0
	for _, s := range all.byName {
		size += len(s.first.Items)
	}
	l.Items = make([]Staged, 0, size)
	released := map[string]func(index.Key) bool{}
	var dones []func()
	for name, s := range all.byName {
		l.Items = append(l.Items, s.first.Items...)
		if s.first.Released != nil {
			released[name] = s.first.Released
			l.Reason = s.first.Reason
		}
		if s.first.Done != nil {
			dones = append(dones, s.first.Done)
		}
		s.first = List{}
	}
	l.Done = func() {
		for _, done := range dones {
			done()
		}
	}
	if len(released) > 0 {
		l.Released = func(key index.Key) bool {
			of := released[key.Namespace]
			return of != nil && of(key)
		}
	}
	return l
}

// advance returns the version that all namespaces have reached, "" if it is the
// one that was reported last, or not known. The caller holds mu.
func (all *namespaceGroup[T]) advance() string {
	all.exact = false
	lowest := ""
	for _, s := range all.byName {
		if s.finished || s.passedOver && !s.listed {
			continue
		}
		if !s.listed || s.version == "" {
			return ""
		}
		if lowest == "" {
			lowest = s.version
			continue
		}
		order, err := resourceversion.CompareResourceVersion(s.version, lowest)
		if err != nil {
			return ""
		}
		if order < 0 {
			lowest = s.version
		}
	}
	if lowest == "" || lowest == all.version {
		all.exact = lowest != ""
		return ""
	}
	all.version, all.exact = lowest, true
	return lowest
}

// trouble returns the failures that last, nil if there are none. The caller
// holds mu.
func (all *namespaceGroup[T]) trouble() error {
	var errs []error
	for _, name := range slices.Sorted(maps.Keys(all.byName)) {
		errs = append(errs, all.byName[name].err)
	}
	return errors.Join(errs...)
}

// progress returns how far the lists have come, all together. The caller holds
// mu.
func (all *namespaceGroup[T]) progress() (received, expected int) {
	known := true
	for _, s := range all.byName {
		received += s.received
		expected += s.expected
		known = known && s.expected > 0
	}
	if !known {
		expected = 0
	}
	return received, expected
}
