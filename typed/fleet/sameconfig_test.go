package fleet

import (
	"context"
	"net"
	"net/http"
	"net/url"
	"reflect"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
)

// TestSameConfig: what cannot be compared is not the same.
func TestSameConfig(t *testing.T) {
	proxy := func(to string) func(*http.Request) (*url.URL, error) {
		u, err := url.Parse(to)
		return func(*http.Request) (*url.URL, error) { return u, err }
	}
	config := func(change func(*rest.Config)) *rest.Config {
		c := &rest.Config{Host: "https://a", BearerToken: "t", TLSClientConfig: rest.TLSClientConfig{CAData: []byte("ca")}}
		change(c)
		return c
	}
	plain := config(func(*rest.Config) {})
	proxied := config(func(c *rest.Config) { c.Proxy = proxy("http://p:1") })
	dialing := config(func(c *rest.Config) {
		c.Dial = func(context.Context, string, string) (net.Conn, error) { return nil, nil }
	})
	transported := config(func(c *rest.Config) { c.Transport = &http.Transport{} })
	failing := config(func(c *rest.Config) { c.Proxy = proxy("::") })
	for _, test := range []struct {
		a, b *rest.Config
		same bool
	}{
		{nil, nil, true},
		{nil, plain, false},
		{plain, config(func(*rest.Config) {}), true},
		{plain, config(func(c *rest.Config) { c.CAData = []byte("cb") }), false},
		{plain, proxied, false},
		{proxied, plain, false},
		{proxied, config(func(c *rest.Config) { c.Proxy = proxy("http://p:1") }), true},
		{proxied, config(func(c *rest.Config) { c.Proxy = proxy("http://p:2") }), false},
		{proxied, config(func(c *rest.Config) { c.Proxy, c.BearerToken = proxy("http://p:1"), "u" }), false},
		{dialing, dialing, true},
		{dialing, config(func(c *rest.Config) { c.Dial = dialing.Dial }), false},
		{transported, config(func(c *rest.Config) { c.Transport = transported.Transport }), true},
		{transported, config(func(c *rest.Config) { c.Transport = &http.Transport{} }), false},
		{transported, plain, false},
		{failing, config(func(c *rest.Config) { c.Proxy = proxy("::") }), false},
	} {
		assert.Equal(t, test.same, sameConfig(test.a, test.b), "%+v and %+v", test.a, test.b)
	}
}

// TestInUse: every field that may refer to something alive is among those that are not looked
// into.
func TestInUse(t *testing.T) {
	c := &rest.Config{}
	var want []uintptr
	var walk func(v reflect.Value)
	walk = func(v reflect.Value) {
		for i := range v.NumField() {
			switch f := v.Field(i); f.Kind() {
			case reflect.Struct:
				walk(f)
			case reflect.Interface, reflect.Chan:
				want = append(want, f.Addr().Pointer())
			}
		}
	}
	walk(reflect.ValueOf(c).Elem())
	var got []uintptr
	for _, f := range inUse(c) {
		got = append(got, f.Addr().Pointer())
	}
	assert.ElementsMatch(t, want, got)
}

// TestServersOfSecrets: a Secret cannot have the program speak to anything but an API server.
func TestServersOfSecrets(t *testing.T) {
	const text = `{"apiVersion":"v1","kind":"Config","current-context":"c","contexts":[{"name":"c","context":{"cluster":"c"}}],"clusters":[{"name":"c","cluster":{"server":"HOST"}}]}`
	clusters := func(host string) ([]Cluster, error) {
		return FromSecret("value")(&corev1.Secret{
			ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "east"},
			Data:       map[string][]byte{"value": []byte(strings.Replace(text, "HOST", host, 1))},
		})
	}
	for _, host := range []string{"https://a.example.com", "http://10.0.0.1:8080", "10.0.0.1:6443"} {
		found, err := clusters(host)
		require.NoError(t, err)
		assert.Equal(t, host, found[0].Config.Host)
	}
	for _, host := range []string{"unix:///var/run/docker.sock", "file:///etc/passwd", "ftp://x"} {
		_, err := clusters(host)
		assert.EqualError(t, err, `secret ns/east, key "value": context "c": server "`+host+`" is refused: its scheme is not https or http`)
	}
}
