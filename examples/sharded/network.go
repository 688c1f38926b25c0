package main

import (
	"errors"
	"net/http"
	"sync/atomic"

	"k8s.io/client-go/rest"
)

// network is what a replica's requests go through. It can be cut.
type network struct{ cut atomic.Bool }

// through returns a configuration whose requests go through the network.
func (n *network) through(config *rest.Config) *rest.Config {
	config = rest.CopyConfig(config)
	config.Wrap(func(next http.RoundTripper) http.RoundTripper { return &cable{n, next} })
	return config
}

type cable struct {
	*network
	next http.RoundTripper
}

// RoundTrip implements http.RoundTripper.
func (c *cable) RoundTrip(r *http.Request) (*http.Response, error) {
	if c.cut.Load() {
		return nil, errors.New("the network is cut")
	}
	return c.next.RoundTrip(r)
}
