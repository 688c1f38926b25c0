package fleet

import (
	"net/http"
	"net/url"
	"reflect"

	"k8s.io/client-go/rest"
)

// sameConfig reports whether two configurations are known to be the same. Functions cannot
// be compared, so those with functions are not, but for a proxy that is the same for the
// server, as of a kubeconfig with proxy-url.
func sameConfig(a, b *rest.Config) bool {
	if a == nil || b == nil || a == b {
		return a == b
	}
	if (a.Proxy == nil) != (b.Proxy == nil) {
		return false
	}
	if a.Proxy == nil {
		return reflect.DeepEqual(a, b)
	}
	if proxyOf(a) == nil || !reflect.DeepEqual(proxyOf(a), proxyOf(b)) {
		return false
	}
	c, d := *a, *b
	c.Proxy, d.Proxy = nil, nil
	return reflect.DeepEqual(&c, &d)
}

// proxyOf returns the proxy for the server of a configuration, nil if it has none or that
// fails.
func proxyOf(c *rest.Config) *url.URL {
	server, _, err := rest.DefaultServerUrlFor(c)
	if err != nil {
		return nil
	}
	proxy, err := c.Proxy(&http.Request{URL: server})
	if err != nil {
		return nil
	}
	return proxy
}
