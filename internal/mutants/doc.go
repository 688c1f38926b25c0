// Program mutants finds out whether the simulations are any good: it puts known bugs
// into copies of this project's files, one at a time, and counts the seeds that it takes
// until a suite notices.
//
//	go run ./internal/mutants                      # all of them, 2,000 seeds each
//	go run ./internal/mutants -run Coalesce -seeds 200
//	go run ./internal/mutants -update              # and write docs/reliability.md
//	go run ./internal/mutants -none -seeds 500     # no bug: all suites have to pass
//
// Each bug is in a copy of the function that it is about, which that function calls if
// the environment says so; the files with the copies are given to go build by -overlay,
// so that no file of the tree is touched, and one build will do for all bugs. What a bug
// replaces has to be in its file exactly once: a change of the file that takes it away
// fails a test of this package, so the list goes with the code.
//
// In virtual time, goroutines run one after the other from one wait to the next, more or
// less, and many an order of what they do at one instant does not come up. So the copies
// also yield at random wherever they take or give back a lock: some bugs are seen in no
// other way. With -none, so are bugs that nobody has put there.
package main
