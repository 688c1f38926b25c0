package main

import (
	"fmt"
	"slices"
	"strings"
)

// mutation is a known bug: a text that replaces another one in one function.
type mutation struct {
	bug string // what is wrong, in words
	// in is the function that has the bug: the folder of its package from the root of
	// the module, then its name, such as typed/source.Map or typed/kube.cursor.next for
	// a method. In which file it is does not matter.
	in       string
	old, new string
	// suite has to find it. If it is empty, that is the one of the list or, if the list has none,
	// all tests of the package that has the function.
	suite suite
}

// suite is a test that runs a simulation, seed by seed, or tests that run once.
type suite struct {
	folder string // of its package, from the root of the module
	test   string // a regular expression of names, as go test -run has it, without ^ and $
	once   bool   // they know of no seeds
}

// name returns what tables call a suite.
func (s suite) name() string {
	if s.once {
		return "`go test ./" + s.folder + "`"
	}
	return s.test
}

var (
	informers    = suite{folder: "internal/test/simulated", test: "TestInformers"}
	reads        = suite{folder: "internal/test/simulated", test: "TestReads"}
	expectations = suite{folder: "internal/test/simulated", test: "TestReadYourWrites"}
	own          = suite{folder: "internal/test/simulated", test: "TestOwnWrites"}
	untold       = suite{folder: "internal/test/simulated", test: "TestExpectationsNotify"}
	noChange     = suite{folder: "internal/test/simulated", test: "TestExpectNoChange"}
	shares       = suite{folder: "internal/test/simulated", test: "TestFactory"}
	queues       = suite{folder: "internal/test/simulated", test: "TestKeysAreProcessed"}
)

// tests returns the suite of tests that run once.
func tests(folder, test string) suite { return suite{folder: folder, test: test, once: true} }

// foundBy sets the suite of those mutations that have none.
func foundBy(s suite, bugs []mutation) []mutation {
	for i := range bugs {
		if bugs[i].suite == (suite{}) {
			bugs[i].suite = s
		}
	}
	return bugs
}

// all returns all mutations.
func all() []mutation {
	bugs := slices.Concat(
		listAndWatch, storeAndIndex, eventsAndHandlers, namespaceSets, leftOutFields,
		factories, readYourWrites, workQueue, combining, resting, ofQueues, decoding,
		rejectedObjects, viewsOfOthers, ofShards, ownWrites, references, ofKinds,
		ofNamespaces, servers, subresources, listers, tablesAndIndexes, responses, sharedParts, pages,
		groupFactories, upperRooms, lowerRooms,
	)
	for i, m := range bugs {
		if m.suite == (suite{}) {
			room, _ := splitName(m.in)
			bugs[i].suite = tests(room, ".*")
		}
	}
	return bugs
}

// apply returns the text of the function with the bug; f is that of m.in.
func (m mutation) apply(f function) (string, error) {
	if n := strings.Count(f.text(), m.old); n != 1 {
		return "", fmt.Errorf("mutation %q: what it replaces is %d times in %s; it has to be there once:\n%s", m.bug, n, m.in, m.old)
	}
	return strings.Replace(f.text(), m.old, m.new, 1), nil
}
