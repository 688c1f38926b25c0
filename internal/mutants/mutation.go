package main

import (
	"fmt"
	"slices"
	"strings"
)

// mutation is a known bug: one text of one function in the place of another.
type mutation struct {
	bug string // what is wrong, in words
	// in is the function that has the bug: the folder of its package from the root of
	// the module, then its name, such as typed/source.Map or typed/kube.cursor.next for
	// a method. In which file it is does not matter.
	in       string
	old, new string
	suite    suite // that has to find it
}

// suite is a test that runs a simulation, or any other one.
type suite struct {
	folder string // of its package, from the root of the module
	test   string
	plain  bool // it runs no simulation, and takes no seeds
}

func simulated(test string) suite { return suite{folder: "internal/simulated", test: test} }

// name returns what tables call a suite.
func (s suite) name() string { return s.test }

var (
	informers    = simulated("TestInformers")
	reads        = simulated("TestReads")
	expectations = simulated("TestReadYourWrites")
	own          = simulated("TestOwnWrites")
	untold       = simulated("TestExpectationsTell")
	shares       = simulated("TestFactory")
	queues       = simulated("TestKeysAreProcessed")
)

// all returns all mutations.
func all() []mutation {
	return slices.Concat(listAndWatch, storeAndIndex, eventsAndHandlers, namespaceSets, factories, readYourWrites, workQueue, decoding)
}

// apply returns the text of the function with the bug; f is that of m.in.
func (m mutation) apply(f function) (string, error) {
	if n := strings.Count(f.text(), m.old); n != 1 {
		return "", fmt.Errorf("mutation %q: what it replaces is %d times in %s; it has to be there once:\n%s", m.bug, n, m.in, m.old)
	}
	return strings.Replace(f.text(), m.old, m.new, 1), nil
}
