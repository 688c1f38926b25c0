package apitest

import (
	"context"
	"maps"
	"net"
	"net/http"
	"slices"
	"sync"
)

// lines are the connections of a server. The zero value is ready.
type lines struct {
	mu       sync.Mutex
	open     map[*line]bool // guarded by mu
	carriers sync.WaitGroup
}

// lineListener makes lines of the connections that another listener accepts.
type lineListener struct {
	net.Listener
	lines *lines
}

// Accept implements net.Listener.
func (l lineListener) Accept() (net.Conn, error) {
	conn, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return l.lines.add(conn), nil
}

func (ls *lines) add(conn net.Conn) *line {
	ls.mu.Lock()
	defer ls.mu.Unlock()
	if ls.open == nil {
		ls.open = map[*line]bool{}
	}
	l := &line{Conn: conn, lines: ls, wake: make(chan struct{}, 1)}
	ls.open[l] = true
	return l
}

func (ls *lines) remove(l *line) {
	ls.mu.Lock()
	defer ls.mu.Unlock()
	delete(ls.open, l)
}

func (ls *lines) all() []*line {
	ls.mu.Lock()
	defer ls.mu.Unlock()
	return slices.Collect(maps.Keys(ls.open))
}

// close ends what faults have left, and waits for it.
func (ls *lines) close() {
	for _, l := range ls.all() {
		l.reset()
	}
	ls.carriers.Wait()
}

type lineKey struct{}

// withLine is the ConnContext of an http.Server.
func withLine(ctx context.Context, conn net.Conn) context.Context {
	return context.WithValue(ctx, lineKey{}, conn)
}

// lineOf returns the connection that a request came by.
func lineOf(r *http.Request) *line { return r.Context().Value(lineKey{}).(*line) }
