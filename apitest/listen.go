package apitest

import (
	"context"
	"net"

	"github.com/kubetyped/informer/apitest/internal/bubble"
	"github.com/kubetyped/informer/apitest/internal/loopback"
)

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
