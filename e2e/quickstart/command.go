package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// examplePackage is what runs if no command is given.
const examplePackage = "./examples/quickstart"

// interruptGrace is how long a command may take to end after an interrupt.
const interruptGrace = 10 * time.Second

// command is the program that is shown.
type command struct {
	args       []string // or none, for the example
	dir        string
	kubeconfig string // file
	out        io.Writer
}

// run runs the command until it ends, with its output going to ours. When ctx
// ends, the command is interrupted, and killed if it does not end then; run
// returns the error of ctx.
func (c command) run(ctx context.Context) error {
	args := c.args
	if len(args) == 0 {
		program, err := c.buildExample(ctx)
		if err != nil {
			return err
		}
		args = []string{program, "-kubeconfig", c.kubeconfig}
	}
	fmt.Fprintln(c.out, "running", strings.Join(args, " "))
	return c.start(ctx, args)
}

// buildExample builds the example next to the kubeconfig and returns its path. `go run` would
// do, except that it does not pass an interrupt on.
func (c command) buildExample(ctx context.Context) (string, error) {
	program := filepath.Join(filepath.Dir(c.kubeconfig), "example")
	fmt.Fprintln(c.out, "building", examplePackage)
	if err := c.start(ctx, []string{"go", "build", "-o", program, examplePackage}); err != nil {
		return "", fmt.Errorf("build %s: %w", examplePackage, err)
	}
	return program, nil
}

func (c command) start(ctx context.Context, args []string) error {
	cmd := exec.CommandContext(ctx, args[0], args[1:]...)
	cmd.Dir = c.dir
	cmd.Env = append(os.Environ(), "KUBECONFIG="+c.kubeconfig)
	cmd.Stdout, cmd.Stderr = c.out, os.Stderr
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = interruptGrace
	err := cmd.Run()
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err != nil {
		return fmt.Errorf("run %s: %w", args[0], err)
	}
	return nil
}
