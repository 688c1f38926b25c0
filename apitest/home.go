package apitest

import (
	"errors"
	"fmt"

	"github.com/kubetyped/informer/apitest/internal/bubble"
)

// ErrOtherBubble says that a server was used in another bubble of testing/synctest
// than that in which it was started, or that one of the two was in none. Each has
// a separate clock, and they may not wait for each other.
var ErrOtherBubble = errors.New("the server belongs to another bubble of testing/synctest")

// home is where a server was started: a bubble, or outside of any.
type home struct{ id bubble.ID }

// check returns ErrOtherBubble, and what to do, if the caller is elsewhere.
func (h home) check() error {
	here := bubble.Current()
	switch {
	case here == h.id:
		return nil
	case h.id == 0:
		return fmt.Errorf("%w: it was started outside of synctest.Test, and is used within; "+
			"call apitest.Start in the function that synctest.Test calls", ErrOtherBubble)
	case here == 0:
		return fmt.Errorf("%w: it was started within synctest.Test, and is used outside; "+
			"start in the same function what uses it", ErrOtherBubble)
	default:
		return fmt.Errorf("%w: it was started by one synctest.Test, and is used by another; "+
			"start one server in each", ErrOtherBubble)
	}
}

// must panics if the caller is elsewhere. It is for methods that return no error.
func (h home) must() {
	if err := h.check(); err != nil {
		panic(fmt.Errorf("apitest: %w", err))
	}
}
