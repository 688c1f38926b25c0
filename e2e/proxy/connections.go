package proxy

import (
	"fmt"
	"sync"
)

// Connections returns the number of open TCP connections of clients, silent ones
// included.
func (p *Proxy) Connections() int {
	return len(p.network.open())
}

// FreezeConnections makes the open connections of clients die without a word, as
// when a device between forgets them: they stay open, and no byte passes in
// either direction until they are reset or the proxy closes. New connections
// work. It returns how many.
//
// client-go's clients notice by HTTP/2's pings, 45 seconds later unless
// HTTP2_READ_IDLE_TIMEOUT_SECONDS and HTTP2_PING_TIMEOUT_SECONDS say otherwise.
// The watches of these connections stay open at the API server.
func (p *Proxy) FreezeConnections() (n int) {
	p.change(func() {
		for c := range p.network.conns {
			if !c.frozen {
				c.frozen = true
				n++
			}
		}
	})
	return n
}

// Blackhole makes the network lose everything: no byte passes in either direction, on new
// connections either, whose TLS handshake gets no answer, until resume is called, which may be
// called more than once. Then the delayed bytes pass, except on frozen connections.
func (p *Proxy) Blackhole() (resume func()) {
	p.change(func() { p.network.blackholes++ })
	return sync.OnceFunc(func() {
		p.change(func() { p.network.blackholes-- })
	})
}

// ResetConnections closes the open connections of clients with a TCP reset,
// silent ones too, as when the other machine has crashed and come back. New
// connections work. It returns how many.
func (p *Proxy) ResetConnections() int {
	open := p.network.open()
	for _, c := range open {
		if err := c.kill(true); err != nil {
			p.log.Printf("reset a connection: %v", err)
		}
	}
	return len(open)
}

// Refuse refuses new connections, as a machine does on which no server runs, until accept is
// called. Open ones stay; see ResetConnections. accept returns an error if another process has
// taken the port, and may be called again then; or if the proxy is closed. Once it has returned
// nil, it does nothing.
func (p *Proxy) Refuse() (accept func() error) {
	if err := p.network.refuse(); err != nil {
		p.log.Printf("refuse connections: %v", err)
	}
	var mu sync.Mutex
	accepted := false // guarded by mu
	return func() error {
		mu.Lock()
		defer mu.Unlock()
		if accepted {
			return nil
		}
		if err := p.network.accept(); err != nil {
			return fmt.Errorf("accept connections again: %w", err)
		}
		accepted = true
		return nil
	}
}
