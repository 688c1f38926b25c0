package proxy

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log"
	"net"
	"net/http"
	"net/url"
	"slices"
	"sync"
	"time"

	"k8s.io/client-go/rest"
	certutil "k8s.io/client-go/util/cert"
)

// Proxy passes requests on to an API server, except for the faults that the caller injects. Make
// one with [Start].
//
//  1. Its address stays the same until Close, even while connections are refused.
//  2. Without faults in force, requests and answers pass unchanged, and the parts
//     of an answer as soon as they come.
//  3. What happens after a method that stops something has returned, does not
//     pass: no event of a write that began later, no byte sent later.
//  4. All methods are safe for concurrent use. After Close, they find nothing to
//     act on.
type Proxy struct {
	upstream    *rest.Config
	target      *url.URL
	transport   http.RoundTripper
	certificate []byte // PEM, of the proxy itself
	log         *log.Logger

	*monitor
	network    *network
	counts     counts             // guarded by mu
	injections []*Injection       // guarded by mu; in force
	holds      map[*hold]bool     // guarded by mu; in force
	watches    map[*exchange]bool // guarded by mu; the open ones
	lag        time.Duration      // of events of watches

	http   *http.Server
	served chan error      // the result of http.ServeTLS
	ctx    context.Context // ends when Close begins
	cancel context.CancelFunc

	gate        sync.RWMutex
	closed      bool           // guarded by gate
	handlers    sync.WaitGroup // requests on their way; Add under gate
	connections sync.WaitGroup // those that http serves
	closing     sync.Once
	closeErr    error // written in closing
}

// Start starts a proxy for the API server that upstream reaches. upstream is
// copied. If it has a Transport, that is what reaches the API server, and its
// connections remain the caller's; otherwise the proxy makes a transport of the
// TLS settings, Dial and Proxy of upstream.
//
// Start returns an error if an option is wrong, if upstream is nil or invalid, or if no port is
// free. The caller must call Close.
func Start(upstream *rest.Config, opts ...Option) (*Proxy, error) {
	p, err := start(upstream, opts)
	if err != nil {
		return nil, fmt.Errorf("start proxy: %w", err)
	}
	return p, nil
}

func start(upstream *rest.Config, opts []Option) (*Proxy, error) {
	o, err := newOptions(opts)
	if err != nil {
		return nil, err
	}
	if upstream == nil {
		return nil, errors.New("the configuration of the API server is nil")
	}
	p := &Proxy{
		upstream: rest.CopyConfig(upstream),
		log:      log.New(o.log, "proxy: ", log.Lmicroseconds),
		lag:      o.lag,
		monitor:  newMonitor(),
		counts:   counts{},
		holds:    map[*hold]bool{},
		watches:  map[*exchange]bool{},
		served:   make(chan error, 1),
	}
	if p.target, _, err = rest.DefaultServerUrlFor(p.upstream); err != nil {
		return nil, err
	}
	cert, key, err := certutil.GenerateSelfSignedCertKey("localhost", []net.IP{net.IPv4(127, 0, 0, 1)}, nil)
	if err != nil {
		return nil, fmt.Errorf("make a certificate: %w", err)
	}
	pair, err := tls.X509KeyPair(cert, key)
	if err != nil {
		return nil, fmt.Errorf("make a certificate: %w", err)
	}
	p.certificate = cert
	p.ctx, p.cancel = context.WithCancel(context.Background())
	if p.transport, err = newTransport(p.ctx, p.upstream); err != nil {
		p.cancel()
		return nil, err
	}
	if p.network, err = newNetwork(p.monitor); err != nil {
		p.cancel()
		return nil, err
	}
	p.http = &http.Server{
		Handler:     http.HandlerFunc(p.serve),
		TLSConfig:   &tls.Config{Certificates: []tls.Certificate{pair}, MinVersion: tls.VersionTLS12},
		BaseContext: func(net.Listener) context.Context { return p.ctx },
		ConnState:   p.track,
		ErrorLog:    p.log,
	}
	go func() { p.served <- p.http.ServeTLS(p.network, "", "") }()
	return p, nil
}

// Config returns how to reach the API server through the proxy: the upstream
// configuration, credentials included, at the proxy's address. The caller owns
// it. Clients of one proxy that leave Dial and NextProtos as they are share their
// connections, as client-go's clients do.
func (p *Proxy) Config() *rest.Config {
	c := rest.CopyConfig(p.upstream)
	c.Host = "https://" + p.network.addr.String()
	c.TLSClientConfig = rest.TLSClientConfig{CAData: slices.Clone(p.certificate)}
	c.Transport, c.Dial, c.Proxy = nil, nil, nil
	return c
}

// Close closes all connections, frozen ones too, and waits until no request is
// left and nothing is listened to. Further calls wait for the first and return
// its result.
func (p *Proxy) Close() error {
	p.closing.Do(func() { p.closeErr = p.close() })
	return p.closeErr
}

func (p *Proxy) close() error {
	p.gate.Lock()
	p.closed = true
	p.gate.Unlock()
	p.cancel()
	// The connections first: http would wait for those that are silent.
	err := errors.Join(p.network.Close(), p.http.Close())
	if served := <-p.served; !errors.Is(served, http.ErrServerClosed) && !errors.Is(served, net.ErrClosed) {
		err = errors.Join(err, served)
	}
	p.handlers.Wait()
	p.connections.Wait()
	if err != nil {
		return fmt.Errorf("close proxy: %w", err)
	}
	return nil
}

// enter counts a request in, unless the proxy is closing.
func (p *Proxy) enter() bool {
	p.gate.RLock()
	defer p.gate.RUnlock()
	if !p.closed {
		p.handlers.Add(1)
	}
	return !p.closed
}

func (p *Proxy) track(_ net.Conn, state http.ConnState) {
	switch state {
	case http.StateNew:
		p.connections.Add(1)
	case http.StateClosed, http.StateHijacked:
		p.connections.Done()
	}
}
