// Package measure builds benchmarks and runs them, round after round.
package measure

import (
	"bytes"
	"context"
	"debug/buildinfo"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"strings"

	"golang.org/x/perf/benchfmt"

	"github.com/kubetyped/informer/benchmarks/report/internal/results"
)

// Suite is a package of benchmarks that has been built.
type Suite struct {
	dir     string
	program string
}

// Build builds the benchmarks of the package in dir, as the file program, which
// is the caller's to remove.
func Build(ctx context.Context, dir, program string) (*Suite, error) {
	build := exec.CommandContext(ctx, "go", "-C", dir, "test", "-c", "-o", program, ".")
	if output, err := build.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("build the benchmarks in %s: %w\n%s", dir, err, output)
	}
	return &Suite{dir: dir, program: program}, nil
}

// Versions returns those of Go and of the modules that the suite's module itself
// requires.
func (s *Suite) Versions(ctx context.Context) ([]results.Version, error) {
	info, err := buildinfo.ReadFile(s.program)
	if err != nil {
		return nil, fmt.Errorf("version of Go of the benchmarks in %s: %w", s.dir, err)
	}
	versions := []results.Version{{Name: "go", Version: strings.TrimPrefix(info.GoVersion, "go")}}
	const direct = "{{if and .Version (not .Indirect) (not .Replace)}}{{.Path}} {{.Version}}{{end}}"
	output, err := exec.CommandContext(ctx, "go", "-C", s.dir, "list", "-m", "-f", direct, "all").Output()
	if err != nil {
		return nil, fmt.Errorf("versions of the modules of the benchmarks in %s: %w", s.dir, withOutput(err, nil))
	}
	for line := range strings.Lines(string(output)) {
		if name, version, ok := strings.Cut(strings.TrimSpace(line), " "); ok {
			versions = append(versions, results.Version{Name: name, Version: version})
		}
	}
	return versions, nil
}

// List returns the names of the benchmark functions that the first element of
// pattern, a pattern as go test -bench has it, matches.
func (s *Suite) List(ctx context.Context, pattern string) ([]string, error) {
	first, _, _ := strings.Cut(pattern, "/")
	list := s.command(ctx, "-test.list", first)
	output, err := list.Output()
	if err != nil {
		return nil, fmt.Errorf("list the benchmarks that %q matches: %w", pattern, withOutput(err, output))
	}
	var names []string
	for line := range strings.Lines(string(output)) {
		if name := strings.TrimSpace(line); strings.HasPrefix(name, "Benchmark") {
			names = append(names, name)
		}
	}
	return names, nil
}

// Sample runs what pattern matches, once, and adds to r what it prints. It returns an
// error if there is nothing that the pattern matches.
func (s *Suite) Sample(ctx context.Context, pattern, benchtime string, r *results.Results) error {
	found := false
	err := s.run(ctx, pattern, benchtime, "", func(result *benchfmt.Result) error {
		found = true
		return r.Add(result, false)
	})
	if err == nil && !found {
		err = fmt.Errorf("no benchmark in %s has a name that %q matches", s.dir, pattern)
	}
	return err
}

// run runs the benchmarks that pattern matches, once, and calls each with every result as soon
// as it is printed. With processors, it runs on each of these numbers of them, see Run. The error
// has the end of the rest of the output.
func (s *Suite) run(ctx context.Context, pattern, benchtime, processors string, each func(*benchfmt.Result) error) error {
	arguments := []string{"-test.run", "^$", "-test.bench", pattern, "-test.benchtime", benchtime, "-test.timeout", "0"}
	if processors != "" {
		arguments = append(arguments, "-test.cpu", processors)
	}
	command := s.command(ctx, arguments...)
	output, err := command.StdoutPipe()
	if err != nil {
		return err
	}
	var other tail
	command.Stderr = &other
	if err := command.Start(); err != nil {
		return err
	}
	failed := s.read(io.TeeReader(output, &other), each)
	if err := command.Wait(); err != nil && ctx.Err() == nil {
		return fmt.Errorf("%s in %s: %w\n%s", pattern, s.dir, err, other.String())
	}
	return errors.Join(ctx.Err(), failed)
}

func (s *Suite) read(output io.Reader, each func(*benchfmt.Result) error) error {
	var failed error
	reader := benchfmt.NewReader(output, s.dir)
	for reader.Scan() {
		if result, ok := reader.Result().(*benchfmt.Result); ok { // lines of other programs are no results
			failed = errors.Join(failed, each(result))
		}
	}
	return errors.Join(failed, reader.Err())
}

// command returns a call of the suite, in the folder of its package, as go test
// makes it.
func (s *Suite) command(ctx context.Context, arguments ...string) *exec.Cmd {
	command := exec.CommandContext(ctx, s.program, arguments...)
	command.Dir = s.dir
	return command
}

// withOutput adds to the error of a program what it has written.
func withOutput(err error, output []byte) error {
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		return fmt.Errorf("%w: %s", err, bytes.TrimSpace(append(exit.Stderr, output...)))
	}
	return err
}
