package loopback_test

import (
	"bytes"
	"context"
	"io"
	"math/rand/v2"
	"net"
	"os"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/net/nettest"

	"github.com/kubetyped/informer/apitest/internal/loopback"
)

// TestConn is what every net.Conn has to pass.
func TestConn(t *testing.T) {
	nettest.TestConn(t, func() (a, b net.Conn, stop func(), err error) {
		x, y := loopback.Pipe("a", "b")
		return x, y, func() { _, _ = x.Close(), y.Close() }, nil
	})
}

func TestWritesCanBeReadAfterTheEnd(t *testing.T) {
	for name, test := range map[string]struct {
		end  func(*loopback.Conn) error
		read error
		// write is what the other end gets that writes.
		write error
	}{
		"close": {(*loopback.Conn).Close, io.EOF, syscall.EPIPE},
		"reset": {(*loopback.Conn).Reset, syscall.ECONNRESET, syscall.ECONNRESET},
	} {
		t.Run(name, func(t *testing.T) {
			a, b := loopback.Pipe("a", "b")
			_, err := a.Write([]byte("last words"))
			require.NoError(t, err)
			require.NoError(t, test.end(a))
			assert.ErrorIs(t, test.end(a), net.ErrClosed)
			buf := make([]byte, 100)
			n, err := b.Read(buf)
			require.NoError(t, err)
			assert.Equal(t, "last words", string(buf[:n]))
			_, err = b.Read(buf)
			assert.ErrorIs(t, err, test.read)
			_, err = b.Write(buf)
			assert.ErrorIs(t, err, test.write)
			_, err = a.Read(buf)
			assert.ErrorIs(t, err, net.ErrClosed)
			_, err = a.Write(buf)
			assert.ErrorIs(t, err, net.ErrClosed)
			assert.ErrorIs(t, a.SetDeadline(time.Now()), net.ErrClosed)
			assert.NoError(t, b.SetDeadline(time.Now()))
			assert.NoError(t, b.Close())
		})
	}
}

// TestBytesArriveInOrder writes more than the buffer holds, in pieces of all sizes.
func TestBytesArriveInOrder(t *testing.T) {
	sent := make([]byte, 1<<20)
	random := rand.New(rand.NewPCG(1, 2))
	for i := range sent {
		sent[i] = byte(random.Int())
	}
	synctest.Test(t, func(t *testing.T) {
		a, b := loopback.Pipe("a", "b")
		go func() {
			for rest := sent; len(rest) > 0; {
				n := min(len(rest), random.IntN(200_000))
				written, err := a.Write(rest[:n])
				assert.NoError(t, err)
				assert.Equal(t, n, written)
				rest = rest[n:]
			}
			assert.NoError(t, a.Close())
		}()
		var got bytes.Buffer
		sizes := rand.New(rand.NewPCG(3, 4))
		for {
			n, err := io.CopyN(&got, b, int64(1+sizes.IntN(100_000)))
			if err == io.EOF {
				break
			}
			require.NoError(t, err, "%d", n)
		}
		assert.Equal(t, sent, got.Bytes())
	})
}

// TestDeadlinesAreVirtual: in a bubble, waits take no time and end exactly.
func TestDeadlinesAreVirtual(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, b := loopback.Pipe("a", "b")
		begun := time.Now()
		require.NoError(t, b.SetReadDeadline(begun.Add(time.Hour)))
		_, err := b.Read(make([]byte, 1))
		assert.ErrorIs(t, err, os.ErrDeadlineExceeded)
		assert.Equal(t, time.Hour, time.Since(begun))

		require.NoError(t, a.SetWriteDeadline(time.Now().Add(time.Minute)))
		n, err := a.Write(make([]byte, 100<<10))
		assert.ErrorIs(t, err, os.ErrDeadlineExceeded)
		assert.Equal(t, 64<<10, n, "the other end does not read")
		assert.Equal(t, time.Hour+time.Minute, time.Since(begun))
	})
}

func TestDial(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := loopback.Listen("server:80")
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		_, err := l.Dial(ctx)
		assert.ErrorIs(t, err, context.DeadlineExceeded, "nobody accepts")
		go func() {
			conn, err := l.Accept()
			assert.NoError(t, err)
			_, err = conn.Write([]byte("hello"))
			assert.NoError(t, err)
			assert.NoError(t, conn.Close())
		}()
		conn, err := l.Dial(t.Context())
		require.NoError(t, err)
		assert.Equal(t, "server:80", conn.RemoteAddr().String())
		text, err := io.ReadAll(conn)
		assert.NoError(t, err)
		assert.Equal(t, "hello", string(text))
		assert.NoError(t, l.Close())
		assert.NoError(t, l.Close())
		_, err = l.Dial(t.Context())
		assert.ErrorIs(t, err, syscall.ECONNREFUSED)
		_, err = l.Accept()
		assert.ErrorIs(t, err, net.ErrClosed)
	})
}
