package main

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strconv"
	"time"
)

// verdict is what became of a mutation.
type verdict struct {
	mutation
	seeds int    // until it was found; 0: it was not
	check string // that found it
	took  time.Duration
}

// program is the test binary of a suite's package, with all the bugs in it.
type program struct {
	binary, folder string
	sound          map[suite]bool // those that have passed once, without a bug
}

// judge runs seeds until the suite of a mutation, which has a number, fails.
func (p program) judge(ctx context.Context, number int, m mutation, seeds int) (verdict, error) {
	begun := time.Now()
	v, err := p.run(ctx, number, m, 1, seeds)
	if err == nil && v.seeds == unknown {
		v, err = p.search(ctx, number, m, seeds)
	}
	v.took = time.Since(begun)
	if err != nil || v.seeds == 0 || p.sound[m.suite] {
		return v, err
	}
	right, err := p.run(ctx, 0, m, v.seeds, 1)
	if err == nil && right.seeds != 0 {
		err = fmt.Errorf("seed %d of %s fails without a bug as well: %s", v.seeds, m.suite.test, right.check)
	}
	p.sound[m.suite] = err == nil && m.suite.once
	return v, err
}

// unknown is the number of a seed that has ended the program before the program could report it.
const unknown = -1

// search runs one seed after the other, each in a new process, until one ends its process.
func (p program) search(ctx context.Context, number int, m mutation, seeds int) (verdict, error) {
	for seed := 1; seed <= seeds; seed++ {
		v, err := p.run(ctx, number, m, seed, 1)
		if err != nil {
			return v, err
		}
		if v.seeds != 0 {
			v.seeds = seed
			return v, nil
		}
	}
	return verdict{mutation: m}, nil
}

// run runs some seeds, with the bug of a number; 0 is none.
func (p program) run(ctx context.Context, number int, m mutation, first, seeds int) (verdict, error) {
	args := []string{"-test.run", "^(" + m.suite.test + ")$"}
	if m.suite.once {
		args = append(args, "-test.timeout=1m", "-test.failfast")
	} else {
		args = append(args, "-test.timeout=1h",
			"-simulation.first="+strconv.Itoa(first), "-simulation.seeds="+strconv.Itoa(seeds), "-simulation.shrink=0")
	}
	command := exec.CommandContext(ctx, p.binary, args...)
	command.Dir = p.folder
	command.Env = append(os.Environ(), variable+"="+strconv.Itoa(number))
	output, err := command.CombinedOutput()
	var exit *exec.ExitError
	switch {
	case ctx.Err() != nil:
		return verdict{}, ctx.Err()
	case err == nil && bytes.Contains(output, []byte("no tests to run")):
		return verdict{}, fmt.Errorf("there is no test %s in %s", m.suite.test, m.suite.folder)
	case err == nil:
		return verdict{mutation: m}, nil
	case !errors.As(err, &exit):
		return verdict{}, fmt.Errorf("run %s: %w", m.suite.test, err)
	}
	return m.read(string(output)), nil
}

var (
	failure  = regexp.MustCompile(`(?m)simulation: seed (\d+): (.*?)(?: \(\S+#\d+\))?, after [0-9.hmsµ]+:`)
	standing = regexp.MustCompile(`(?m)^panic: simulation: seed (\d+): nothing has happened`)
	failed   = regexp.MustCompile(`(?m)^--- FAIL: (\S+)`)
	crash    = regexp.MustCompile(`(?m)^(?:panic|fatal error): (.*?)(?: \[recovered\].*)?$`)
)

// read returns what the output of a suite that has failed says.
func (m mutation) read(output string) verdict {
	type found struct {
		seed  int
		check string
	}
	var all []found
	for _, match := range failure.FindAllStringSubmatch(output, -1) {
		seed, _ := strconv.Atoi(match[1])
		all = append(all, found{seed, match[2]})
	}
	for _, match := range standing.FindAllStringSubmatch(output, -1) {
		seed, _ := strconv.Atoi(match[1])
		all = append(all, found{seed, "the clock stands still"})
	}
	if len(all) > 0 { // of several workers, each may have found one
		least := slices.MinFunc(all, func(a, b found) int { return cmp.Compare(a.seed, b.seed) })
		return verdict{mutation: m, seeds: least.seed, check: least.check}
	}
	v := verdict{mutation: m, seeds: unknown, check: "the program ends"}
	if m.suite.once {
		v.seeds = 1
	}
	if match := failed.FindStringSubmatch(output); match != nil && m.suite.once {
		v.check = match[1]
	} else if match := crash.FindStringSubmatch(output); match != nil {
		v.check = "panic: " + match[1]
	}
	return v
}
