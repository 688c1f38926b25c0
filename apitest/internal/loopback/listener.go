package loopback

import (
	"context"
	"fmt"
	"net"
	"os"
	"sync"
	"sync/atomic"
	"syscall"
)

// Listener accepts the connections that Dial makes. Make one with Listen.
type Listener struct {
	addr    Addr
	dialled chan *Conn
	closed  chan struct{}
	close   sync.Once
	clients atomic.Int64
}

// Addr is an address. It has a meaning only for its reader.
type Addr string

// Network implements net.Addr.
func (Addr) Network() string { return "loopback" }

// String implements net.Addr.
func (a Addr) String() string { return string(a) }

// Listen returns a listener whose address is given out as addr.
func Listen(addr string) *Listener {
	return &Listener{addr: Addr(addr), dialled: make(chan *Conn), closed: make(chan struct{})}
}

// Dial connects with the listener, once it accepts. It returns the error of ctx
// when that ends before, and ECONNREFUSED once the listener is closed.
func (l *Listener) Dial(ctx context.Context) (net.Conn, error) {
	client, server := Pipe(Addr(fmt.Sprintf("client-%d", l.clients.Add(1))), l.addr)
	select {
	case l.dialled <- server:
		return client, nil
	case <-l.closed:
		refused := os.NewSyscallError("connect", syscall.ECONNREFUSED)
		return nil, &net.OpError{Op: "dial", Net: l.addr.Network(), Addr: l.addr, Err: refused}
	case <-ctx.Done():
		return nil, &net.OpError{Op: "dial", Net: l.addr.Network(), Addr: l.addr, Err: ctx.Err()}
	}
}

// Accept implements net.Listener.
func (l *Listener) Accept() (net.Conn, error) {
	select {
	case conn := <-l.dialled:
		return conn, nil
	case <-l.closed:
		return nil, &net.OpError{Op: "accept", Net: l.addr.Network(), Addr: l.addr, Err: net.ErrClosed}
	}
}

// Close implements net.Listener. It leaves connections as they are.
func (l *Listener) Close() error {
	l.close.Do(func() { close(l.closed) })
	return nil
}

// Addr implements net.Listener.
func (l *Listener) Addr() net.Addr { return l.addr }
