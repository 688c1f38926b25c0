// Rerun runs a go test command as it is and, if tests fail, each of them again by
// itself, up to three times. It exits with 0 if all of them passed in the end.
//
//	rerun [-flaky FILE] go test [flags] packages
//
// A test that fails and then passes is flaky: its name is printed under FLAKY, and
// appended to FILE. A package that fails without saying which test did, as after a
// panic, a timeout or a goroutine that was left behind, is run again as a whole. What
// cannot be built or vetted is not run again.
package main

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"syscall"
)

// tries is how often a failed test is run again.
const tries = 3

func main() {
	flaky := flag.String("flaky", "", "the `file` to append the names of flaky tests to")
	flag.Usage = func() {
		fmt.Fprintln(flag.CommandLine.Output(), "usage: rerun [-flaky FILE] go test [flags] packages")
		flag.PrintDefaults()
	}
	flag.Parse()
	if flag.NArg() < 2 {
		flag.Usage()
		os.Exit(2)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	r := rerunner{stdout: os.Stdout, stderr: os.Stderr, flaky: *flaky}
	if err := r.run(ctx, flag.Args()); err != nil {
		fmt.Fprintln(os.Stderr, "rerun:", err)
		stop()
		os.Exit(1)
	}
}

// rerunner runs one command.
type rerunner struct {
	stdout, stderr io.Writer
	flaky          string // a file, "" for none
}

func (r *rerunner) run(ctx context.Context, command []string) error {
	output, err := r.execute(ctx, command)
	if err == nil || ctx.Err() != nil {
		return err
	}
	failures, final := parse(output)
	if final != "" || len(failures) == 0 {
		return fmt.Errorf("%s: %w", strings.Join(command, " "), err)
	}
	var broken []string
	for _, f := range failures {
		passed, err := r.again(ctx, command, f)
		switch {
		case err != nil:
			return err
		case passed == 0:
			broken = append(broken, f.String())
		default:
			if err := r.report(f, passed); err != nil {
				return err
			}
		}
	}
	if len(broken) > 0 {
		return fmt.Errorf("failed %d times: %s", 1+tries, strings.Join(broken, ", "))
	}
	return nil
}

// execute runs a command, and returns what it has printed to its standard output.
func (r *rerunner) execute(ctx context.Context, command []string) (string, error) {
	var output bytes.Buffer
	c := exec.CommandContext(ctx, command[0], command[1:]...)
	c.Cancel = func() error { return c.Process.Signal(os.Interrupt) }
	c.Stdout, c.Stderr = io.MultiWriter(r.stdout, &output), r.stderr
	err := c.Run()
	return output.String(), err
}

// again runs what failed until it passes, and returns at which try it did, 0 for
// none.
func (r *rerunner) again(ctx context.Context, command []string, f failure) (int, error) {
	for try := 1; try <= tries; try++ {
		fmt.Fprintf(r.stdout, "\n=== again, %d of %d: %s\n", try, tries, f)
		output, err := r.execute(ctx, f.command(command))
		if ctx.Err() != nil {
			return 0, ctx.Err()
		}
		if err == nil && !strings.Contains(output, "[no tests to run]") {
			return try, nil
		}
	}
	return 0, nil
}

// report says that a test is flaky.
func (r *rerunner) report(f failure, try int) error {
	line := fmt.Sprintf("%s (failed, then passed at try %d)\n", f, try)
	fmt.Fprintf(r.stdout, "\nFLAKY\n%s", line)
	if r.flaky == "" {
		return nil
	}
	file, err := os.OpenFile(r.flaky, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	if _, err := file.WriteString(line); err != nil {
		return fmt.Errorf("%w, then %w", err, file.Close())
	}
	return file.Close()
}
