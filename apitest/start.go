package apitest

import (
	"errors"
	"time"

	"github.com/kubetyped/informer/apitest/internal/bubble"
)

// TB is what Start needs of a *testing.T or *testing.B.
type TB interface {
	Helper()
	Cleanup(func())
	Fatalf(format string, args ...any)
}

// Start starts a server that is closed when the test and its subtests are done.
// It fails the test when an option is invalid, or the server cannot start or
// stop, or t is that of a test outside of the bubble of testing/synctest in which
// Start is called, or the other way round.
func Start(t TB, opts ...Option) *Server {
	t.Helper()
	if err := checkPlace(t); err != nil {
		t.Fatalf("start: %v", err)
		return nil
	}
	s, err := NewServer(opts...)
	if err != nil {
		t.Fatalf("start: %v", err)
		return nil
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Fatalf("close: %v", err)
		}
	})
	return s
}

var (
	errOutsideT = errors.New("t is that of the test outside of this bubble of testing/synctest, and would close the server when the bubble has ended; " +
		"call apitest.Start with the t that synctest.Test gives to its function")
	errInsideT = errors.New("t is that of a bubble of testing/synctest, and this is no goroutine of it; " +
		"call apitest.Start in the function that synctest.Test calls, or with the t of the test outside")
)

// checkPlace returns an error if t is of a bubble and its caller is not, or the other way
// round: the server is closed when t's test ends, and that has to be in the same place. If t is
// not a *testing.T, its place is unknown.
func checkPlace(t TB) error {
	test, ok := t.(interface {
		Deadline() (deadline time.Time, ok bool)
	})
	if !ok {
		return nil
	}
	inside, insideT := bubble.Current() != 0, isOfBubble(test.Deadline)
	switch {
	case inside && !insideT:
		return errOutsideT
	case !inside && insideT:
		return errInsideT
	}
	return nil
}

// isOfBubble reports whether a method Deadline is that of the t of a bubble: synctest.Test
// documents that it must not be called there, and it panics.
func isOfBubble(deadline func() (time.Time, bool)) (is bool) {
	defer func() { is = recover() != nil }()
	deadline()
	return false
}
