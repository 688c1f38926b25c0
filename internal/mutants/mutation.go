package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// mutation is a known bug: one text of one file in the place of another.
type mutation struct {
	bug      string // what is wrong, in words
	file     string // from the root of the module
	old, new string
	suite    suite // that has to find it
}

// suite is a test that runs a simulation.
type suite struct {
	folder string // of its package, from the root of the module
	test   string
}

// name returns what tables call a suite.
func (s suite) name() string { return s.test }

var (
	informers    = suite{"internal/simulated", "TestInformers"}
	reads        = suite{"internal/simulated", "TestReads"}
	expectations = suite{"internal/simulated", "TestReadYourWrites"}
	own          = suite{"internal/simulated", "TestOwnWrites"}
	untold       = suite{"internal/simulated", "TestExpectationsTell"}
	shares       = suite{"internal/simulated", "TestFactory"}
	queues       = suite{"internal/simulated", "TestKeysAreProcessed"}
)

// all returns all mutations.
func all() []mutation {
	return slices.Concat(listAndWatch, storeAndIndex, eventsAndHandlers, namespaceSets, factories, readYourWrites, workQueue)
}

// apply returns the text of the file with the bug.
func (m mutation) apply(root string) (string, error) {
	text, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(m.file)))
	if err != nil {
		return "", fmt.Errorf("mutation %q: %w", m.bug, err)
	}
	if n := strings.Count(string(text), m.old); n != 1 {
		return "", fmt.Errorf("mutation %q: what it replaces is %d times in %s; it has to be there once:\n%s", m.bug, n, m.file, m.old)
	}
	return strings.Replace(string(text), m.old, m.new, 1), nil
}
