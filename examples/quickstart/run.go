package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"time"

	"github.com/kubetyped/informer/typed"
)

// run shows the cluster that the arguments ask for. An end of ctx is no error.
func run(ctx context.Context, args []string, stdout io.Writer) (err error) {
	opts, err := parse(args, stdout)
	if errors.Is(err, flag.ErrHelp) {
		return nil
	} else if err != nil {
		return err
	}
	c, err := open(opts)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, c.close()) }()

	out := &printer{w: stdout}
	out.title(c.about)
	err = c.fill(ctx)
	if err == nil {
		err = watch(ctx, c, opts, out)
	}
	// The informers may have stopped before those that wait for them.
	if ctx.Err() != nil && (errors.Is(err, context.Canceled) || errors.Is(err, typed.ErrStopped)) {
		out.title("\nInterrupted")
		return nil
	}
	return err
}

// options are what the flags say.
type options struct {
	duration   time.Duration
	timeout    time.Duration
	pods       int
	rate       int
	kubeconfig string
	context    string
}

// parse reads the flags. If they ask for help, it prints that and returns
// flag.ErrHelp.
func parse(args []string, out io.Writer) (options, error) {
	var o options
	flags := flag.NewFlagSet("quickstart", flag.ContinueOnError)
	flags.SetOutput(io.Discard) // errors are returned
	flags.DurationVar(&o.duration, "duration", 5*time.Second, "how long to count events")
	flags.DurationVar(&o.timeout, "timeout", 30*time.Second, "how long to wait for the informers to sync")
	flags.IntVar(&o.pods, "pods", 5000, "`number` of Pods in the server in memory")
	flags.IntVar(&o.rate, "rate", 800, "`number` of changes of Pods a second in the server in memory")
	flags.StringVar(&o.kubeconfig, "kubeconfig", "", "use the cluster of this `file` instead, and write nothing to it")
	flags.StringVar(&o.context, "context", "", "use this context of the kubeconfig, by its `name`")
	err := flags.Parse(args)
	switch {
	case errors.Is(err, flag.ErrHelp):
		flags.SetOutput(out)
		fmt.Fprintln(out, "Usage: quickstart [flags]")
		flags.PrintDefaults()
		return o, err
	case err != nil:
		return o, fmt.Errorf("%w (-h lists the flags)", err)
	case flags.NArg() > 0:
		return o, fmt.Errorf("unexpected argument %q (-h lists the flags)", flags.Arg(0))
	case o.duration <= 0 || o.timeout <= 0:
		return o, errors.New("-duration and -timeout must be positive")
	case o.pods < 1 || o.rate < 0:
		return o, errors.New("-pods must be positive, and -rate must not be negative")
	}
	return o, nil
}
