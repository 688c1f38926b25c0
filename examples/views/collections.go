package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"golang.org/x/sync/errgroup"

	"github.com/kubetyped/informer/index"
	"github.com/kubetyped/informer/typed"
	"github.com/kubetyped/informer/typed/view"
)

// collections are the five views.
type collections struct {
	endpoints *collection[*Endpoints]
	load      *collection[*Load]
	restarts  *collection[*Restart]
	usage     *collection[*Usage]
	proxies   *collection[*Proxy] // nil: the cluster has no Gateways
	all       []printed
}

// printed is a collection of any objects.
type printed interface {
	Run(ctx context.Context) error
	WaitForSync(ctx context.Context) error
	// printChanges prints what has changed since it was called before.
	printChanges(out io.Writer)
	// reach waits until the collection reflects a version of an input, if it is made of it.
	reach(ctx context.Context, input view.Input, version string) error
}

// newCollections makes the views, and an informer of each. An informer is what runs a view
// and keeps the result: it has handlers, indexes and listers as any other.
func newCollections(in *inputs) *collections {
	c := &collections{
		endpoints: collect(endpointsOf(in.services, in.pods, in.nodes), in.services, in.pods, in.nodes),
		load:      collect(loadOf(in.nodes, in.pods), in.nodes, in.pods),
		restarts:  collect(restartsOf(in.configMaps, in.secrets, in.pods, in.replicaSets), in.configMaps, in.secrets, in.pods, in.replicaSets),
		usage:     collect(usageOf(in.quotas, in.pods), in.quotas, in.pods),
	}
	c.all = []printed{c.endpoints, c.load, c.restarts, c.usage}
	if in.gateways != nil {
		c.proxies = collect(proxiesOf(in.gateways, in.routes, in.services, in.slices), in.gateways, in.routes, in.services, in.slices)
		c.all = append(c.all, c.proxies)
	}
	return c
}

func (c *collections) run(ctx context.Context, group *errgroup.Group) {
	for _, one := range c.all {
		group.Go(func() error { return one.Run(ctx) })
	}
}

func (c *collections) waitForSync(ctx context.Context) error {
	var errs []error
	for _, one := range c.all {
		errs = append(errs, one.WaitForSync(ctx))
	}
	return errors.Join(errs...)
}

func (c *collections) print(out io.Writer) {
	for _, one := range c.all {
		one.printChanges(out)
	}
}

// reach waits until all collections reflect a version of an input.
func (c *collections) reach(ctx context.Context, input view.Input, version string) error {
	var errs []error
	for _, one := range c.all {
		errs = append(errs, one.reach(ctx, input, version))
	}
	return errors.Join(errs...)
}

// object is what a collection is printed of.
type object interface {
	index.Object
	fmt.Stringer
}

// collection is a view, and the informer that runs it.
type collection[T object] struct {
	informer *typed.Informer[T]
	view     *view.View[T]
	inputs   []view.Input
	before   *index.Snapshot[T]
}

func collect[T object](v *view.View[T], inputs ...view.Input) *collection[T] {
	return &collection[T]{typed.NewInformer(v), v, inputs, index.NewIndexer[T]().Snapshot()}
}

func (c *collection[T]) Run(ctx context.Context) error { return c.informer.Run(ctx) }

func (c *collection[T]) WaitForSync(ctx context.Context) error { return c.informer.WaitForSync(ctx) }

func (c *collection[T]) printChanges(out io.Writer) {
	now := c.informer.Snapshot()
	var lines []string
	for e := range index.Diff(c.before, now) {
		switch e.Type {
		case index.Added:
			lines = append(lines, "+ "+e.New.String())
		case index.Updated:
			lines = append(lines, "~ "+e.New.String())
		case index.Deleted:
			lines = append(lines, "- "+e.Old.String())
		}
	}
	slices.Sort(lines)
	for _, line := range lines {
		fmt.Fprintln(out, " ", line)
	}
	c.before = now
}

func (c *collection[T]) reach(ctx context.Context, input view.Input, version string) error {
	if !slices.Contains(c.inputs, input) {
		return nil
	}
	return c.view.WaitForResourceVersion(ctx, input, version)
}
