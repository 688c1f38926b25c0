package apitest

import (
	"context"
	"errors"
	"fmt"
	"net"

	"github.com/kubetyped/informer/apitest/internal/bubble"
	"github.com/kubetyped/informer/apitest/internal/loopback"
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

// nowhere is the host of servers in bubbles. No name server may know it.
const nowhere = "bubble.invalid"

// listen returns the listener of a server, and how clients connect if not by its address: in a
// bubble, the clock stands still while a goroutine waits for a socket.
func listen(home home) (net.Listener, func(context.Context) (net.Conn, error), error) {
	if home.id == 0 {
		listener, err := net.Listen("tcp", "127.0.0.1:0")
		return listener, nil, err
	}
	listener := loopback.Listen(nowhere)
	return listener, listener.Dial, nil
}

// here returns where the caller is.
func here() home { return home{bubble.Current()} }
