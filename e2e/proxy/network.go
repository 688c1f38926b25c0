package proxy

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"strconv"
	"syscall"
)

// network is the listener of the proxy and the connections that came of it. It
// implements net.Listener.
type network struct {
	*monitor
	addr   net.Addr
	closed chan struct{} // closed under mu

	listener   net.Listener   // guarded by mu; nil while connections are refused, and after Close
	refusals   int            // guarded by mu; those in force
	blackholes int            // guarded by mu; those in force
	conns      map[*conn]bool // guarded by mu; the open ones
}

func newNetwork(m *monitor) (*network, error) {
	listener, err := listen()
	if err != nil {
		return nil, err
	}
	return &network{
		monitor:  m,
		addr:     listener.Addr(),
		closed:   make(chan struct{}),
		listener: listener,
		conns:    map[*conn]bool{},
	}, nil
}

// Systems take the ports of outgoing connections from 32768 or above. Below, no
// client can take the port while connections are refused.
const (
	lowestPort = 20000
	portRange  = 12000
	portTries  = 100
)

// listen listens on a free port of 127.0.0.1.
func listen() (net.Listener, error) {
	for range portTries {
		port := lowestPort + rand.IntN(portRange)
		listener, err := net.Listen("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
		if !errors.Is(err, syscall.EADDRINUSE) {
			return listener, err
		}
	}
	return nil, fmt.Errorf("find a free port: %d tries between %d and %d all in use",
		portTries, lowestPort, lowestPort+portRange)
}

// Accept implements net.Listener. It waits while connections are refused.
func (n *network) Accept() (net.Conn, error) {
	for {
		var listener net.Listener
		listening := func() bool { listener = n.listener; return listener != nil }
		if !n.wait(listening, n.closed) {
			return nil, net.ErrClosed
		}
		inner, err := listener.Accept()
		if err == nil {
			return n.add(inner)
		}
		var failed bool
		n.look(func() { failed = n.listener == listener })
		if failed {
			return nil, err
		}
	}
}

func (n *network) add(inner net.Conn) (net.Conn, error) {
	c := &conn{Conn: inner, network: n, dead: make(chan struct{})}
	n.change(func() { n.conns[c] = true })
	select {
	case <-n.closed:
		return nil, errors.Join(net.ErrClosed, c.kill(false))
	default:
		return c, nil
	}
}

// open returns the open connections.
func (n *network) open() (open []*conn) {
	n.look(func() {
		for c := range n.conns {
			open = append(open, c)
		}
	})
	return open
}

// refuse closes the listener, unless it is closed.
func (n *network) refuse() (err error) {
	n.change(func() {
		n.refusals++
		if n.listener != nil {
			err = n.listener.Close()
			n.listener = nil
		}
	})
	return err
}

// accept undoes one refuse, and listens again if it was the last in force.
func (n *network) accept() (err error) {
	n.change(func() {
		select {
		case <-n.closed:
			err = net.ErrClosed
			return
		default:
		}
		if n.refusals == 1 {
			if n.listener, err = net.Listen("tcp", n.addr.String()); err != nil {
				return
			}
		}
		n.refusals--
	})
	return err
}

// Close implements net.Listener. It closes the connections too.
func (n *network) Close() (err error) {
	n.change(func() {
		select {
		case <-n.closed:
			return
		default:
		}
		close(n.closed)
		if n.listener != nil {
			err = n.listener.Close()
			n.listener = nil
		}
	})
	for _, c := range n.open() {
		err = errors.Join(err, c.kill(false))
	}
	return err
}

// Addr implements net.Listener.
func (n *network) Addr() net.Addr { return n.addr }
