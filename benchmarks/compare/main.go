// Compare runs the benchmarks of this project and of client-go, and prints how many times faster
// or smaller each is. In a clone of the project:
//
//	go run ./benchmarks/compare -quick
//
// takes less than three minutes on two cores. Without flags it measures everything but
// KeptProcess, and compares with the peers of benchmarks/peers too, in about an hour and a half,
// with 8 GB of memory; that writes benchmarks/results, and the tables of README and docs.
//
//	-quick         measure some benchmarks
//	-check         measure some benchmarks, and fail if one is below 80 % of its target, twice
//	-regress       measure beside the commits of benchmarks/baseline.txt, and fail if something became slower
//	-bench REGEXP  measure what matches, as with go test -bench
//	-update        with -bench, put that in the place of what the documents have
//	-count N       the number of rounds, in each of which the sides take turns
//	-benchtime T   for how long a benchmark runs in a round
//	-json FILE     where to write results, as they come
//	-out DIR       where to write performance.md and its charts
//	-from FILE     measure nothing: read the results of an earlier run
//
// A run that is interrupted keeps the results so far. The program in benchmarks/report, in a
// separate module, counts, computes and draws: this one builds it and runs it.
package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"syscall"
)

const module = "github.com/kubetyped/informer"

func main() {
	code, err := run(os.Args[1:])
	if err != nil {
		fmt.Fprintln(os.Stderr, "compare:", err)
	}
	os.Exit(code)
}

// run returns the code to exit with, which is that of the program that it has
// run, if it came to that.
func run(arguments []string) (code int, err error) {
	project, err := find()
	if err != nil {
		return 2, err
	}
	folder, err := os.MkdirTemp("", "compare-")
	if err != nil {
		return 2, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(folder)) }()
	program := filepath.Join(folder, "report.exe")
	build := exec.Command("go", "-C", filepath.Join(project, "benchmarks", "report"), "build", "-o", program, ".")
	build.Stderr = os.Stderr // what is downloaded, and what fails
	if err := build.Run(); err != nil {
		return 2, fmt.Errorf("build the program in benchmarks/report: %w", err)
	}
	// An interrupt from a terminal reaches the program too, one from elsewhere is passed on. It
	// ends by itself, with the results so far.
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	report := exec.CommandContext(ctx, program, append([]string{"-project", project}, arguments...)...)
	report.Cancel = func() error { return report.Process.Signal(os.Interrupt) }
	report.Stdin, report.Stdout, report.Stderr = os.Stdin, os.Stdout, os.Stderr
	if err := report.Run(); err != nil {
		if exit, ok := errors.AsType[*exec.ExitError](err); ok && exit.Exited() {
			return exit.ExitCode(), nil // it has said why
		}
		return 2, fmt.Errorf("run the program in benchmarks/report: %w", err)
	}
	return 0, nil
}

// find returns the folder of a clone of the project.
func find() (string, error) {
	output, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", module).Output()
	project := string(bytes.TrimSpace(output))
	if err == nil {
		_, err = os.Stat(filepath.Join(project, "benchmarks", "report", "go.mod"))
	}
	if err != nil {
		return "", fmt.Errorf("this runs in a clone of the project, such as git clone https://%s makes: %w", module, err)
	}
	return project, nil
}
