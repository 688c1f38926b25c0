package index

import (
	"flag"
	"os"
	"testing"
)

// TestMain sets 25 checks for each model unless a flag sets their number. CI passes
// -rapid.checks=200.
func TestMain(m *testing.M) {
	flag.Parse()
	said := false
	flag.Visit(func(f *flag.Flag) { said = said || f.Name == "rapid.checks" })
	if !said {
		_ = flag.Set("rapid.checks", "25")
	}
	os.Exit(m.Run())
}

var large = flag.Bool("index.large", false, "test with as many objects as large stores have, as CI does")

// objectsOf returns a number of objects for a test: many only if that was asked for.
func objectsOf(few, many int) int {
	if *large {
		return many
	}
	return few
}
