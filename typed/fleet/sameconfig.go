package fleet

import (
	"net/http"
	"net/url"
	"reflect"

	"k8s.io/client-go/rest"
)

// sameConfig reports whether two configurations are known to be the same. Values that may be in
// use, such as a transport, are the same only if they are one pointer. Functions cannot be
// compared, so configurations with functions are not the same, except for a proxy that is the
// same for the server, as that of a kubeconfig with proxy-url.
func sameConfig(a, b *rest.Config) bool {
	if a == nil || b == nil || a == b {
		return a == b
	}
	c, d := *a, *b
	for i, of := range inUse(&c) {
		with := inUse(&d)[i]
		if !isOne(of, with) {
			return false
		}
		of.SetZero()
		with.SetZero()
	}
	if c.Proxy != nil && d.Proxy != nil {
		proxy := proxyOf(a)
		if proxy == nil || !reflect.DeepEqual(proxy, proxyOf(b)) {
			return false
		}
		c.Proxy, d.Proxy = nil, nil
	}
	return reflect.DeepEqual(&c, &d)
}

// inUse returns the fields of a configuration that may refer to values that other code uses
// meanwhile.
func inUse(c *rest.Config) []reflect.Value {
	fields := []any{
		&c.Transport, &c.RateLimiter, &c.WarningHandler, &c.WarningHandlerWithContext,
		&c.AuthConfigPersister, &c.NegotiatedSerializer,
	}
	values := make([]reflect.Value, len(fields))
	for i, field := range fields {
		values[i] = reflect.ValueOf(field).Elem()
	}
	return values
}

// isOne reports whether two interfaces are nil, or have the same pointer.
func isOne(a, b reflect.Value) bool {
	if a.IsNil() || b.IsNil() {
		return a.IsNil() && b.IsNil()
	}
	a, b = a.Elem(), b.Elem()
	return a.Type() == b.Type() && a.Kind() == reflect.Pointer && a.Pointer() == b.Pointer()
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
