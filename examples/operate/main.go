// Command operate is a program with four troubles, and a page that shows them: an informer
// without rights, a handler that is slow, objects that take most of the memory, and a key
// that fails again and again. See how soon you find them:
//
//	go run ./examples/operate
//
// and open the address that it prints. It ends with Ctrl-C. Begin to read at program.go; the
// troubles are in troubles.go.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/signal"
	"syscall"
	"time"

	"golang.org/x/sync/errgroup"
	"k8s.io/klog/v2"
)

func main() {
	klog.LogToStderr(false) // what is wrong is on the page
	klog.SetOutput(io.Discard)
	address := flag.String("address", "localhost:8080", "serve the page at this `address`")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second Ctrl-C ends the program at once
	if err := run(ctx, *address, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "operate:", err)
		os.Exit(1)
	}
}

// run runs the program on its own cluster until ctx ends, which is no error.
func run(ctx context.Context, address string, out io.Writer) (err error) {
	srv, err := newCluster(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, srv.Close()) }()
	p, err := newProgram(srv.Config())
	if err != nil {
		return err
	}
	listener, err := net.Listen("tcp", address)
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "What is wrong with this program? http://%s/debug/informers/\n", listener.Addr())
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error { return p.run(ctx) })
	group.Go(func() error { return change(ctx, srv) })
	group.Go(func() error { return serve(ctx, listener, p.inspector) })
	err = group.Wait()
	if errors.Is(err, context.Canceled) {
		return nil // it was asked to stop
	}
	return err
}

// serve serves the page until ctx ends. Programs of yours that have a server of metrics and
// profiles serve it there, behind the same authentication.
func serve(ctx context.Context, listener net.Listener, inspector http.Handler) error {
	mux := http.NewServeMux()
	mux.Handle("/debug/informers/", inspector)
	server := &http.Server{Handler: mux, ReadHeaderTimeout: 10 * time.Second, BaseContext: func(net.Listener) context.Context { return ctx }}
	closed := make(chan error, 1)
	go func() {
		<-ctx.Done()
		closed <- server.Close()
	}()
	if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return <-closed
}
