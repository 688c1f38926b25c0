package proxy

import (
	"net"
	"sync"
)

// conn is a connection of a client, which can fall silent.
type conn struct {
	net.Conn
	network *network
	frozen  bool // guarded by network.mu

	killing sync.Once
	dead    chan struct{} // closed by kill
}

// Read implements net.Conn. Received bytes wait while the connection is silent.
func (c *conn) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	if !c.pass() {
		return 0, net.ErrClosed
	}
	return n, err
}

func (c *conn) Write(p []byte) (int, error) {
	if !c.pass() {
		return 0, net.ErrClosed
	}
	return c.Conn.Write(p)
}

// Close implements net.Conn. TLS calls it after a last message to the client,
// which waits while the connection is silent.
func (c *conn) Close() error { return c.kill(false) }

// pass waits while the connection is silent. It returns false if that has killed
// it.
func (c *conn) pass() bool {
	return c.network.wait(func() bool { return !c.frozen && c.network.blackholes == 0 }, c.dead)
}

// kill closes the connection, silent or not, with a reset if that is asked for.
// After the first call it does nothing.
func (c *conn) kill(reset bool) (err error) {
	c.killing.Do(func() {
		close(c.dead)
		if tcp, ok := c.Conn.(*net.TCPConn); ok && reset {
			// It fails if the client has closed it, who then needs no reset.
			_ = tcp.SetLinger(0)
		}
		err = c.Conn.Close()
		c.network.change(func() { delete(c.network.conns, c) })
	})
	return err
}
