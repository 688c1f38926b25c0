package loopback

import (
	"errors"
	"io"
	"net"
	"os"
	"sync/atomic"
	"syscall"
	"time"
)

// Conn is one end of a connection. Make two with Pipe.
type Conn struct {
	in, out       *stream
	local, remote Addr
	ended         atomic.Bool // this end
}

// Pipe returns the two ends of a connection, with their addresses.
func Pipe(a, b Addr) (*Conn, *Conn) {
	there, back := newStream(), newStream()
	return &Conn{in: back, out: there, local: a, remote: b}, &Conn{in: there, out: back, local: b, remote: a}
}

// Read implements net.Conn. It returns what was written before the other end was
// closed, and then io.EOF.
func (c *Conn) Read(p []byte) (int, error) {
	n, err := c.in.read(p)
	return n, c.opError("read", err)
}

// Write implements net.Conn. It waits while the other end leaves 64 KiB unread.
func (c *Conn) Write(p []byte) (int, error) {
	n, err := c.out.write(p)
	return n, c.opError("write", err)
}

// Close implements net.Conn. The other end can read what was written.
func (c *Conn) Close() error { return c.end("close", io.EOF, syscall.EPIPE) }

// Reset ends the connection as a packet does that says so: the other end gets
// ECONNRESET, after what was written before.
func (c *Conn) Reset() error {
	return c.end("reset", os.NewSyscallError("read", syscall.ECONNRESET), syscall.ECONNRESET)
}

// end ends both directions. The other end gets the reason by its next read and its next write.
func (c *Conn) end(op string, read error, write syscall.Errno) error {
	if c.ended.Swap(true) {
		return c.opError(op, net.ErrClosed)
	}
	c.out.end(net.ErrClosed, read)
	c.in.end(os.NewSyscallError("write", write), net.ErrClosed)
	c.in.drop()
	return nil
}

// LocalAddr implements net.Conn.
func (c *Conn) LocalAddr() net.Addr { return c.local }

// RemoteAddr implements net.Conn.
func (c *Conn) RemoteAddr() net.Addr { return c.remote }

// SetDeadline implements net.Conn.
func (c *Conn) SetDeadline(t time.Time) error {
	return errors.Join(c.SetReadDeadline(t), c.SetWriteDeadline(t))
}

// SetReadDeadline implements net.Conn.
func (c *Conn) SetReadDeadline(t time.Time) error {
	c.in.setDeadline(&c.in.reader, t)
	return c.setError()
}

// SetWriteDeadline implements net.Conn.
func (c *Conn) SetWriteDeadline(t time.Time) error {
	c.out.setDeadline(&c.out.writer, t)
	return c.setError()
}

func (c *Conn) setError() error {
	if c.ended.Load() {
		return c.opError("set", net.ErrClosed)
	}
	return nil
}

// opError returns an error as a *net.OpError, as package net does; io.EOF stays as it is.
func (c *Conn) opError(op string, err error) error {
	if err == nil || err == io.EOF {
		return err
	}
	return &net.OpError{Op: op, Net: c.local.Network(), Source: c.local, Addr: c.remote, Err: err}
}
