package simulation

import (
	"fmt"
	"path"
	"runtime/debug"
	"strconv"
	"strings"
	"testing"
)

// again runs one seed, as flags say, and prints its trace.
func again(t *testing.T, define func(*Simulation)) {
	t.Helper()
	cut := func(p plan) plan {
		return p.only(numbers(t, *someOf), numbers(t, *someActs))
	}
	one := attempt(t, define, *oneSeed, cut, true)
	t.Log(strings.Join(one.trace, "\n"))
	if one.failed != nil {
		t.Error(one.failed)
	}
}

// numbers returns which numbers a flag has: all, if it is empty.
func numbers(t *testing.T, list string) func(int) bool {
	t.Helper()
	if list == "" {
		return func(int) bool { return true }
	}
	chosen := map[int]bool{}
	if list != "none" {
		for number := range strings.SplitSeq(list, ",") {
			n, err := strconv.Atoi(strings.TrimSpace(number))
			if err != nil {
				t.Fatalf("simulation: %q is no list of numbers, such as 3,17", list)
			}
			chosen[n] = true
		}
	}
	return func(n int) bool { return chosen[n] }
}

// command returns what runs a plan again, in any folder of the module.
func command(t *testing.T, p plan) string {
	name, _, _ := strings.Cut(t.Name(), "/workers/")
	if strings.HasPrefix(name, "Fuzz") { // what follows is the fuzzer's name of the seed
		name, _, _ = strings.Cut(name, "/")
	}
	parts := strings.Split(name, "/")
	for i := range parts {
		parts[i] = "^" + parts[i] + "$"
	}
	in := ""
	if info, ok := debug.ReadBuildInfo(); ok && info.Path != "" {
		in = " " + strings.TrimSuffix(info.Path, ".test")
	}
	return fmt.Sprintf("go test -run '%s'%s -simulation.seed=%d -simulation.faults=%s -simulation.acts=%s",
		path.Join(parts...), in, p.seed, listOf(p.faults, func(f fault) int { return f.number }), listOf(p.acts, func(a act) int { return a.number }))
}

// listOf returns the numbers of what a plan has, as flags take them.
func listOf[E any](all []E, number func(E) int) string {
	if len(all) == 0 {
		return "none"
	}
	texts := make([]string, len(all))
	for i, one := range all {
		texts[i] = strconv.Itoa(number(one))
	}
	return strings.Join(texts, ",")
}
