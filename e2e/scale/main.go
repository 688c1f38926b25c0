// Command scale measures informers at the size of a large cluster, on a real API server, and
// compares them with those of client-go:
//
//	go run ./scale
//	go run ./scale -pods 2000 -others 200
//	go run ./scale -out ../benchmarks/results/performance.md
//
// It fills a server with objects of five kinds. Then the sides take turns, each in a separate
// process, so that memory is that of one side alone: five informers with indexes and a handler
// each, which sync, and then follow Pods that are updated as fast as the server takes it. It
// prints what that took.
//
// The server is a cluster that it starts and stops, or the one whose kubeconfig
// the environment variable E2E_KUBECONFIG names. There, the objects are in
// namespaces that it makes and removes, and the Pods are kept from running.
//
// It ends when all is measured, or on an interrupt, and leaves nothing in either
// case. The measuring processes read /proc, so it runs on Linux.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"github.com/kubetyped/informer/e2e/cluster"
	"github.com/kubetyped/informer/e2e/target"
)

// maker is how the report knows us.
const maker = "e2e/scale"

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	err := run(ctx, os.Args[1:], os.Stdin, os.Stdout)
	if ctx.Err() != nil && errors.Is(err, ctx.Err()) {
		err = errors.New("interrupted")
	}
	if err != nil && !errors.Is(err, flag.ErrHelp) {
		fmt.Fprintln(os.Stderr, "scale:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string, in io.Reader, out io.Writer) error {
	p, err := parse(args)
	if err != nil {
		return err
	}
	if p.side != "" {
		return play(p.side, in, out)
	}
	if err := p.prepare(); err != nil {
		return err
	}
	results, err := compare(ctx, p, out)
	if err != nil {
		return err
	}
	fmt.Fprintln(out)
	if err := results.table().WriteText(out); err != nil {
		return err
	}
	if p.out == "" {
		return nil
	}
	return results.write(p.out)
}

// compare measures both sides on a server that it opens and closes.
func compare(ctx context.Context, p plan, out io.Writer) (results comparison, err error) {
	server, err := target.Open(ctx, cluster.WithProgress(out))
	if err != nil {
		return comparison{}, err
	}
	defer func() {
		fmt.Fprintln(out, "cleaning up…")
		err = errors.Join(err, server.Close())
	}()
	scene, err := fill(ctx, p, server, out)
	if err != nil {
		return comparison{}, err
	}
	return scene.compare(ctx)
}
