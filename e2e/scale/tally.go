package main

import (
	"fmt"
	"sync"

	"k8s.io/apimachinery/pkg/util/resourceversion"
)

// tally counts the calls of one handler. It is safe for concurrent use, and
// costs both sides the same.
type tally struct {
	mu      sync.Mutex
	updates int    // guarded by mu
	others  int    // guarded by mu; additions and deletions
	version string // guarded by mu; of the last update

	until   string        // guarded by mu; "": not waiting
	reached chan struct{} // made with until; closed when version has come to it
}

// update counts an update to a version.
func (t *tally) update(version string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.updates++
	t.version = version
	if t.until != "" {
		t.check()
	}
}

// other counts an addition or a deletion.
func (t *tally) other() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.others++
}

// reset returns the counts, and sets them to zero.
func (t *tally) reset() (updates, others int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	updates, others = t.updates, t.others
	t.updates, t.others = 0, 0
	return updates, others
}

// reach returns a channel that is closed at the first update to version or a
// later one, which may have been before. It is called once.
func (t *tally) reach(version string) (<-chan struct{}, error) {
	if _, err := resourceversion.CompareResourceVersion(version, version); err != nil {
		return nil, fmt.Errorf("wait for a resource version: %w", err)
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.until, t.reached = version, make(chan struct{})
	if t.version != "" {
		t.check()
	}
	return t.reached, nil
}

// check closes reached if that is due. The caller holds mu.
func (t *tally) check() {
	if order, err := resourceversion.CompareResourceVersion(t.version, t.until); err == nil && order >= 0 {
		close(t.reached)
		t.until = ""
	}
}
