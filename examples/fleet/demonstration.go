package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/kubetyped/informer/apitest"
	"github.com/kubetyped/informer/examples/internal/demo"
	"github.com/kubetyped/informer/typed/fleet"
)

// demonstrate writes the table of three clusters in memory, before one of them goes down,
// while it is, and when it is back.
func demonstrate(ctx context.Context, out io.Writer) (err error) {
	clusters := &fleet.Clusters{}
	servers := map[string]*apitest.Server{}
	for _, name := range []string{"east", "north", "west"} {
		srv, err := demo.NewServer()
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, srv.Close()) }()
		servers[name] = srv
		if err := clusters.Add(fleet.Cluster{Name: name, Config: srv.Config()}); err != nil {
			return err
		}
	}
	return watch(ctx, clusters, func(ctx context.Context, d *dashboard) error {
		if err := d.informer.WaitForSync(ctx); err != nil {
			return err
		}
		d.write(out)

		fmt.Fprintln(out, "\nwest goes down, and all clusters get a Pod")
		servers["west"].Inject(apitest.Fault{Open: true, End: apitest.Reset})
		down := servers["west"].Inject(apitest.Fault{End: apitest.Reset})
		if err := d.until(ctx, func() bool { s, _ := d.pods.StatusOf("west"); return s.Stale() }); err != nil {
			return err
		}
		for _, srv := range servers {
			if err := srv.Create(ctx, demo.Pod("new", "node-a", "10.0.0.8")); err != nil {
				return err
			}
		}
		for _, name := range []string{"east", "north"} { // read your writes, in each of them
			if err := d.pods.WaitForResourceVersion(ctx, name, servers[name].ResourceVersion()); err != nil {
				return err
			}
		}
		d.write(out)

		fmt.Fprintln(out, "\nwest comes back")
		down.Remove()
		if err := d.pods.WaitForResourceVersion(ctx, "west", servers["west"].ResourceVersion()); err != nil {
			return err
		}
		d.write(out)

		fmt.Fprintln(out, "\nnorth leaves")
		clusters.Remove("north")
		if err := d.until(ctx, func() bool { return !d.byCluster.Has("north") }); err != nil {
			return err
		}
		d.write(out)
		return nil
	})
}

// until waits until something is so.
func (d *dashboard) until(ctx context.Context, so func() bool) error {
	for !so() {
		select {
		case <-time.After(10 * time.Millisecond):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}
