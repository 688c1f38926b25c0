// Command stdout follows one change of a ConfigMap through a controller that makes a Pod
// of each: from the API server's event over the store, the handler and the queue to the
// request that creates the Pod, as a trace of OpenTelemetry.
//
//	go run ./examples/stdout [-json]
//
// It brings an API server along, and prints the trace as a tree, or, with -json, as
// OpenTelemetry's stdout exporter does. What tracing adds to a program are the lines with
// "tracing." in controller.go.
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

	"go.opentelemetry.io/otel/exporters/stdout/stdouttrace"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"

	"github.com/kubetyped/informer/adapters/tracing"
	"github.com/kubetyped/informer/apitest"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second Ctrl-C ends the program at once
	if err := run(ctx, os.Args[1:], os.Stdout); err != nil && !errors.Is(err, flag.ErrHelp) {
		fmt.Fprintln(os.Stderr, "stdout:", err)
		os.Exit(1)
	}
}

// run lets a controller make a Pod, and prints the trace of that.
func run(ctx context.Context, args []string, out io.Writer) (err error) {
	flags := flag.NewFlagSet("stdout", flag.ContinueOnError)
	flags.SetOutput(out)
	asJSON := flags.Bool("json", false, "print the trace as OpenTelemetry's stdout exporter does")
	if err := flags.Parse(args); err != nil {
		return err
	}
	srv, err := apitest.NewServer()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, srv.Close()) }()

	var exporter sdktrace.SpanExporter = &tree{out: out}
	if *asJSON {
		if exporter, err = stdouttrace.New(stdouttrace.WithWriter(out), stdouttrace.WithPrettyPrint()); err != nil {
			return err
		}
	}
	stored := &ended{name: "store", first: make(chan struct{})}
	provider := sdktrace.NewTracerProvider(sdktrace.WithBatcher(exporter), sdktrace.WithSpanProcessor(stored))
	tracer, err := tracing.New(tracing.WithTracerProvider(provider))
	if err != nil {
		return err
	}
	if err := makePod(ctx, tracer, srv.Config(), stored.first); err != nil {
		return err
	}
	return provider.Shutdown(ctx) // prints what there is
}
