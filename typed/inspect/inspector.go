package inspect

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/kubetyped/informer/internal/argument"
	"github.com/kubetyped/informer/typed"
	"github.com/kubetyped/informer/typed/inspect/snapshot"
)

// Inspector shows the informers, queues and other parts of a program that it was given. It
// is an http.Handler, see the package's documentation, to be mounted at any path, with
// http.StripPrefix or without. Methods are safe for concurrent use.
type Inspector struct {
	heaps   heaps
	growth  growth
	streams streams

	mu    sync.Mutex
	added []*parts // guarded by mu; by each Add that still counts
	inUse settings // guarded by mu; all of them, not to be changed in place
}

// New returns an Inspector of what the options name, or an error if one of them cannot be
// used.
func New(opts ...Option) (*Inspector, error) {
	i := &Inspector{}
	i.inUse = settings{title: filepath.Base(os.Args[0]), interval: 2 * time.Second, listeners: 16}
	if err := i.Add(opts...); err != nil {
		return nil, err
	}
	return i, nil
}

// Add shows more parts, or sets other options. It returns an error, and adds nothing, if one
// of them cannot be used.
func (i *Inspector) Add(opts ...Option) error {
	return i.AddUntil(context.Background(), opts...)
}

// AddUntil is like Add, but the Inspector removes the parts when ctx ends, or with the next
// report if one is in progress, unless they were also added without a context. Other options
// stay.
func (i *Inspector) AddUntil(ctx context.Context, opts ...Option) error {
	i.mu.Lock()
	defer i.mu.Unlock()
	next := i.inUse
	next.parts = parts{}
	err := argument.ApplyOptions(&next, opts)
	if ctx == nil {
		err = errors.Join(err, errors.New("AddUntil: the context is nil"))
	}
	if err != nil {
		return fmt.Errorf("inspector: %w", err)
	}
	added := new(next.parts)
	i.added = append(i.added, added)
	i.inUse = next
	i.joinParts()
	context.AfterFunc(ctx, func() { i.remove(added) })
	return nil
}

// remove takes out the parts that one call of Add has added.
func (i *Inspector) remove(added *parts) {
	i.mu.Lock()
	i.added = slices.DeleteFunc(i.added, func(p *parts) bool { return p == added })
	i.joinParts()
	i.mu.Unlock()
	i.heaps.forget(added)
}

// joinParts puts all parts that still count in use. The caller holds mu.
func (i *Inspector) joinParts() {
	all := parts{}
	for _, added := range i.added {
		all.join(added)
	}
	i.inUse.parts = all
}

// settings returns what is in use.
func (i *Inspector) settings() settings {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.inUse
}

// Informers returns the informers that it shows now, each once: first those that it was given,
// then those of factories.
func (i *Inspector) Informers() []typed.AnyInformer {
	parts := i.settings()
	return parts.allInformers()
}

// allInformers returns the informers, those of factories included, except those that are nil.
func (p *parts) allInformers() []typed.AnyInformer {
	var all []typed.AnyInformer
	seen := map[typed.AnyInformer]bool{}
	add := func(informers []typed.AnyInformer) {
		for _, informer := range informers {
			if !argument.IsNil(informer) && !seen[informer] {
				seen[informer] = true
				all = append(all, informer)
			}
		}
	}
	add(p.informers)
	for _, factory := range p.factories {
		add(factory.Informers())
	}
	return all
}

// Queues returns the queues that it shows.
func (i *Inspector) Queues() []Queue {
	var queues []Queue
	for _, part := range i.settings().queues {
		queues = append(queues, part.queue)
	}
	return queues
}

// Expectations ranges over the expectations that it shows, by their names.
func (i *Inspector) Expectations() iter.Seq2[string, Expectations] {
	return func(yield func(string, Expectations) bool) {
		for _, part := range i.settings().expecting {
			if !yield(part.name, part.expectations) {
				return
			}
		}
	}
}

// Report returns the state of all parts now. It takes some milliseconds for hundreds of
// informers, and up to 250 more when the objects of informers are to be weighed that were
// not yet, or not in the last minute; ctx ends the weighing, not the report.
func (i *Inspector) Report(ctx context.Context) snapshot.Report {
	parts := i.settings()
	return i.report(ctx, &parts)
}
