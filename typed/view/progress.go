package view

import (
	"context"
	"fmt"
	"sync"

	"k8s.io/apimachinery/pkg/util/resourceversion"
)

// progress is which versions of the inputs are in what readers of a view read. Its methods
// may be called by any goroutine.
type progress struct {
	mu       sync.Mutex
	versions []string      // guarded by mu; by input
	changed  chan struct{} // guarded by mu; closed when versions change (nil: no waiters)
}

// reach notes versions that reads reflect.
func (p *progress) reach(versions []string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.versions = versions
	if p.changed != nil {
		close(p.changed)
		p.changed = nil
	}
}

// now returns the versions, and a channel that is closed when there are others.
func (p *progress) now() ([]string, <-chan struct{}) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.changed == nil {
		p.changed = make(chan struct{})
	}
	return p.versions, p.changed
}

// wait waits until the version of an input is at least the given one.
func (p *progress) wait(ctx context.Context, ended <-chan struct{}, input int, version string) error {
	if _, err := resourceversion.CompareResourceVersion(version, version); err != nil {
		return err
	}
	at := ""
	for {
		versions, changed := p.now()
		if input < len(versions) {
			at = versions[input]
			switch order, err := resourceversion.CompareResourceVersion(at, version); {
			case err == nil && order >= 0:
				return nil
			case err != nil && at != "":
				return fmt.Errorf("version %q cannot be compared with %s: wait for the versions of the inputs: %w", at, version, err)
			}
		}
		select {
		case <-changed:
		case <-ended:
			return fmt.Errorf("waited for resource version %s of the input, is at %q: %w", version, at, ErrNotRunning)
		case <-ctx.Done():
			return fmt.Errorf("waited for resource version %s of the input, is at %q: %w", version, at, context.Cause(ctx))
		}
	}
}
