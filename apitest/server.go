package apitest

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"sync"
	"time"

	"k8s.io/client-go/rest"
	"k8s.io/klog/v2"

	"github.com/kubetyped/informer/apitest/internal/store"
)

// grace is how long Close lets requests finish before it drops connections.
const grace = time.Second

// Server is an API server in memory, listening on 127.0.0.1, or in a bubble of
// testing/synctest. Make one with Start or NewServer. All methods are safe for
// concurrent use.
//
// While a server of a bubble, or a client of [Server.Config], waits, the clock of the bubble
// continues. Such a server can be used in its bubble alone, and one outside
// of bubbles outside: elsewhere, requests and methods that return an error get
// [ErrOtherBubble], and methods that return none panic with it, except for those that only
// look.
type Server struct {
	// URL is where it listens, "http://127.0.0.1:port". In a bubble it is the
	// address of nothing, and works with Config alone.
	URL string

	settings  *settings
	store     *store.Store
	catalog   *catalog
	faults    faults
	counts    counts
	streams   streams
	lines     lines
	home      home
	transport *transport   // of the clients that Config makes
	control   *controllers // nil: none, or those of the server that this is a replica of
	http      *http.Server
	ctx       context.Context // ends when Close begins
	cancel    context.CancelFunc
	served    chan error // the result of http.Serve

	gate        sync.RWMutex
	closed      bool           // guarded by gate
	replicas    []*Server      // guarded by gate
	handlers    sync.WaitGroup // requests being served; Add under gate
	connections sync.WaitGroup
	closing     sync.Once
	closeErr    error // written in closing
}

// NewServer starts a server. It returns an error when an option is invalid, an
// object of WithObjects cannot be stored, or it cannot listen. The caller calls Close.
func NewServer(opts ...Option) (*Server, error) {
	set, err := newSettings(opts)
	if err != nil {
		return nil, fmt.Errorf("apitest server: %w", err)
	}
	objects := store.New(set.history)
	catalog, err := newCatalog(objects, set)
	if err != nil {
		return nil, fmt.Errorf("apitest server: %w", err)
	}
	if err := catalog.addFields(set.fields); err != nil {
		return nil, fmt.Errorf("apitest server: %w", err)
	}
	if set.lifecycle {
		if err := catalog.addLifecycle(); err != nil {
			return nil, fmt.Errorf("apitest server: %w", err)
		}
	}
	s := &Server{settings: set, store: objects, catalog: catalog, home: here()}
	s.addControllers()
	if err := s.Create(context.Background(), set.objects...); err != nil {
		return nil, fmt.Errorf("apitest server: %w", err)
	}
	if err := s.addNamespaces(context.Background()); err != nil {
		return nil, fmt.Errorf("apitest server: %w", err)
	}
	if err := s.serveRequests(); err != nil {
		return nil, err
	}
	if s.control != nil {
		s.control.start(s.ctx)
	}
	return s, nil
}

// addControllers makes the controllers that the options ask for.
func (s *Server) addControllers() {
	var all []controller
	if s.settings.collects {
		all = append(all, newCollector(s))
	}
	if s.settings.lifecycle {
		all = append(all, newLifecycle(s))
	}
	if len(all) > 0 {
		s.control = newControllers(s.store, s.catalog, all)
	}
}

// serveRequests starts to listen and serve.
func (s *Server) serveRequests() error {
	listener, dial, err := listen(s.home)
	if err != nil {
		return fmt.Errorf("apitest server: %w", err)
	}
	s.served = make(chan error, 1)
	s.transport = newTransport(s.home, dial)
	s.URL = "http://" + listener.Addr().String()
	s.ctx, s.cancel = context.WithCancel(klog.NewContext(context.Background(), s.settings.logger))
	s.http = &http.Server{
		Handler:     http.HandlerFunc(s.serve),
		BaseContext: func(net.Listener) context.Context { return s.ctx },
		ConnContext: withLine,
		ConnState:   s.track,
		ErrorLog:    klog.NewStandardLogger("WARNING"),
	}
	go func() { s.served <- s.http.Serve(lineListener{listener, &s.lines}) }()
	return nil
}

// Config returns a new client configuration for the server; the caller owns it.
// It does not limit the client's request rate. Its transport is shared by all
// configurations of the server, and its connections end with Close.
func (s *Server) Config() *rest.Config {
	return &rest.Config{Host: s.URL, Transport: s.transport, QPS: -1}
}

// Close ends all watches, lets other requests finish for up to a second, drops
// the connections and waits until no goroutine of the server is left. Its replicas
// are closed before. Further calls wait for the first and return its result.
func (s *Server) Close() error {
	if err := s.home.check(); err != nil {
		return fmt.Errorf("close: %w", err)
	}
	s.closing.Do(func() { s.closeErr = s.close() })
	return s.closeErr
}

func (s *Server) close() error {
	s.gate.Lock()
	s.closed = true
	replicas := s.replicas
	s.gate.Unlock()
	var failed error
	for _, r := range replicas {
		failed = errors.Join(failed, r.Close())
	}
	s.cancel()
	if s.control != nil {
		s.control.stop()
	}

	finished := make(chan struct{})
	go func() {
		defer close(finished)
		s.handlers.Wait()
	}()
	timer := time.NewTimer(grace)
	defer timer.Stop()
	select {
	case <-finished:
	case <-timer.C:
	}
	// The clients' idle connections end here, and with them their goroutines.
	s.transport.CloseIdleConnections()
	// What handlers have just written is flushed after they return.
	ctx, cancel := context.WithTimeout(context.Background(), grace/10)
	defer cancel()
	err := s.http.Shutdown(ctx)
	if errors.Is(err, context.DeadlineExceeded) {
		err = s.http.Close()
	}
	if served := <-s.served; !errors.Is(served, http.ErrServerClosed) {
		err = errors.Join(err, served)
	}
	<-finished
	s.connections.Wait()
	s.lines.close()
	s.transport.CloseIdleConnections()
	return errors.Join(failed, err)
}

// enter counts a request in, unless the server is closing.
func (s *Server) enter() bool {
	s.gate.RLock()
	defer s.gate.RUnlock()
	if !s.closed {
		s.handlers.Add(1)
	}
	return !s.closed
}

func (s *Server) track(_ net.Conn, state http.ConnState) {
	switch state {
	case http.StateNew:
		s.connections.Add(1)
	case http.StateClosed, http.StateHijacked:
		s.connections.Done()
	}
}
