package apitest

import (
	"errors"
	"fmt"
	"net/http"

	"k8s.io/client-go/rest"
)

// Replica starts another server on the same store, as clusters have several API
// servers: what is written to one is there for all, at the same resource version.
// Faults are those of one of them, and so are open watches and counts of requests.
// A client that is moved from one to another that lags, by a [Fault] with Lag, sees
// the past. A replica is closed by its own Close, or by that of the server that it
// was made from. Replica returns an error when it cannot listen, or the server is
// closed.
func (s *Server) Replica() (*Server, error) {
	if err := s.home.check(); err != nil {
		return nil, fmt.Errorf("replica: %w", err)
	}
	s.gate.Lock()
	defer s.gate.Unlock()
	if s.closed {
		return nil, errors.New("replica: the server is closed")
	}
	r := &Server{settings: s.settings, store: s.store, catalog: s.catalog, home: s.home}
	if err := r.serveRequests(); err != nil {
		return nil, err
	}
	s.replicas = append(s.replicas, r)
	return r, nil
}

// Balance returns a client configuration with which each request goes to the server
// that pick returns, as behind a load balancer. pick may be called concurrently.
// Watches stay where they are; a [Fault] that is about open watches ends them. The
// configuration is otherwise like that of [Server.Config].
func Balance(pick func(*http.Request) *Server) *rest.Config {
	return &rest.Config{Host: "http://balance.invalid", Transport: balancer(pick), QPS: -1}
}

// balancer is the transport of Balance.
type balancer func(*http.Request) *Server

// RoundTrip implements http.RoundTripper.
func (pick balancer) RoundTrip(r *http.Request) (*http.Response, error) {
	s := pick(r)
	moved := r.Clone(r.Context())
	moved.URL.Host, moved.Host = s.host(), ""
	return s.transport.RoundTrip(moved)
}
