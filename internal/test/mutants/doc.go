// Program mutants finds out whether the simulations are any good: it puts known bugs into copies
// of this project's files, one at a time, and counts the seeds that it takes until a suite
// notices. The tests of a package look for bugs that no simulation reaches. They know of no
// seeds, so they run once.
//
//	go run ./internal/test/mutants                      # all of them, 2,000 seeds each
//	go run ./internal/test/mutants -run Coalesce -seeds 200
//	go run ./internal/test/mutants -update              # and write internal/test/mutants/results.md
//	go run ./internal/test/mutants -check               # fail for what is not found; make mutants
//	go run ./internal/test/mutants -seeds 0             # see only whether all can be put in and built
//	go run ./internal/test/mutants -none -seeds 500     # no bug: all suites have to pass
//
// Each bug is in a copy of the function that it is about, which that function calls if the
// environment says so; the files with the copies are given to go build by -overlay, so that no
// file of the tree is touched, and one build will do for all bugs. A bug names a package and a
// function, so that files can be renamed, split and joined. The text that it replaces has to be
// in that function exactly once. A change that removes the text fails each run of this program,
// so the list follows the code.
//
// In virtual time, goroutines run one after the other from one wait to the next, more or less,
// and many orders of their steps at one instant do not come up. So the copies also yield at
// random wherever they take or give back a lock: some bugs are seen in no other way. With -none,
// the same shows bugs that are not in the list.
package main
