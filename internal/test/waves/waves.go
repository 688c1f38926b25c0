// Package waves runs random programs, in which thousands of keys come and go: each by a
// seed, so that what one of them finds is found again by its number.
//
//	go test ./index -run Waves                 # some programs, always the same
//	go test ./index -run Waves -waves=1h       # others, for this test's share of an hour
//	go test ./index -run Waves -waves.seed=77  # the program of one seed
//
// GivesBack measures the memory that stays when keys have come and gone.
package waves

import (
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

var (
	length = flag.Duration("waves", 0, "how long all tests of waves take `together`, such as 1h; 0 for a moment each")
	one    = flag.Uint64("waves.seed", 0, "run the program of this `seed` only")
)

// IsLong reports whether the flag -waves is given.
func IsLong() bool { return *length > 0 }

// Run runs the programs of the seeds from 1 to few, or as many others as the flag -waves
// gives the time for, and says by which seed the one that failed is run again.
func Run(t *testing.T, few int, program func(t *testing.T, seed uint64)) {
	t.Helper()
	first, end := uint64(1), time.Time{}
	switch {
	case *one > 0:
		first, few = *one, 1
	case IsLong():
		first, end = uint64(time.Now().UnixNano()), time.Now().Add(share(t))
	}
	seed, begun := first, time.Now()
	defer func() {
		if t.Failed() {
			t.Logf("once more: go test -run '^%s$' -waves.seed=%d", t.Name(), seed)
		} else {
			t.Logf("%d programs in %v", seed-first, time.Since(begun).Round(time.Millisecond))
		}
	}()
	for ; seed < first+uint64(few) || time.Now().Before(end); seed++ {
		if program(t, seed); t.Failed() {
			return
		}
	}
}

// share returns the time for one test of those that there are in the module.
func share(t *testing.T) time.Duration {
	tests, err := count()
	if err != nil {
		t.Fatalf("counting the tests of waves: %v", err)
	}
	return *length / time.Duration(tests)
}

// count returns how many tests call Run.
func count() (tests int, err error) {
	root, err := os.Getwd()
	if err != nil {
		return 0, err
	}
	for {
		if _, err := os.Stat(filepath.Join(root, "go.mod")); err == nil {
			break
		}
		if filepath.Dir(root) == root {
			return 0, fmt.Errorf("there is no go.mod above this folder")
		}
		root = filepath.Dir(root)
	}
	err = filepath.WalkDir(root, func(file string, _ fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(file, "_test.go") {
			return err
		}
		code, err := os.ReadFile(file)
		tests += strings.Count(string(code), "\twaves.Run(t, ")
		return err
	})
	return max(tests, 1), err
}
