package view

import (
	"context"
	"errors"
	"slices"
	"sync"

	"k8s.io/apimachinery/pkg/util/resourceversion"
)

// programs are those by which a view runs now: one, or one for each of several informers. The
// zero programs is empty. Its methods may be called by any goroutine.
type programs struct {
	mu  sync.Mutex
	all []*program // guarded by mu, and never modified; in the order in which they began
}

func (p *programs) add(one *program) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.all = append(slices.Clip(p.all), one)
}

func (p *programs) remove(one *program) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.all = slices.DeleteFunc(slices.Clone(p.all), func(other *program) bool { return other == one })
}

func (p *programs) now() []*program {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.all
}

// first returns the one that began first, nil if the view does not run.
func (p *programs) first() *program {
	if all := p.now(); len(all) > 0 {
		return all[0]
	}
	return nil
}

// versions returns which version of each input is in what all informers have: "" if that is
// not known.
func (p *programs) versions() (lowest []string) {
	for n, one := range p.now() {
		versions, _ := one.progress.now()
		if n == 0 {
			lowest = slices.Clone(versions)
			continue
		}
		if len(versions) != len(lowest) {
			return nil // one has nothing yet
		}
		for i, at := range versions {
			switch order, err := resourceversion.CompareResourceVersion(at, lowest[i]); {
			case at == lowest[i]:
			case err != nil:
				lowest[i] = ""
			case order < 0:
				lowest[i] = at
			}
		}
	}
	return lowest
}

// wait waits until all have a version of an input. One that ends is not waited for, if there
// are others.
func (p *programs) wait(ctx context.Context, input int, version string) error {
	err := ErrNotRunning
	for _, one := range p.now() {
		next := one.progress.wait(ctx, one.ended, input, version)
		if next != nil && !errors.Is(next, ErrNotRunning) {
			return next
		}
		if next == nil || errors.Is(err, ErrNotRunning) {
			err = next
		}
	}
	return err
}
