package inspect

import (
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"
)

// WithHosts names hosts by which the page is reached, in addition to those that are always
// answered: addresses, localhost, names without a dot, and names below svc, cluster.local and
// internal. It is for proxies, and for your own name: "ops.example.org", "*.example.org" for
// all below that, or "*" for any, if something in front of the page checks that.
//
// Any other name is refused: it may be one that a foreign page was given and that was then
// made to point here, so that the page's scripts can read what is shown (DNS rebinding).
func WithHosts(names ...string) Option {
	return func(s *settings) error {
		for _, name := range names {
			if name == "" || strings.ContainsAny(name, "/:@ ") || strings.Contains(strings.TrimPrefix(name, "*"), "*") {
				return fmt.Errorf("WithHosts: %q is no name of a host, such as ops.example.org: give it without a scheme and port", name)
			}
			s.hosts = append(slices.Clip(s.hosts), strings.ToLower(name))
		}
		return nil
	}
}

// check returns an error if a request is not to be answered: one for a foreign host, or of a
// foreign page.
func (s *settings) check(r *http.Request, streams bool) error {
	if !s.isOwn(r.Host) {
		return fmt.Errorf("the host %.200q is not one of this page: use its address, or give the name to inspect.WithHosts", r.Host)
	}
	if origin := r.Header.Get("Origin"); origin != "" {
		if from, err := url.Parse(origin); err != nil || !strings.EqualFold(from.Host, r.Host) && !s.isNamed(hostname(from.Host)) {
			return fmt.Errorf("the request is one of the foreign page %.200q", origin)
		}
	}
	switch header := r.Header; header.Get("Sec-Fetch-Site") {
	case "", "none", "same-origin":
		return nil
	default:
		if !streams && header.Get("Sec-Fetch-Mode") == "navigate" && header.Get("Sec-Fetch-Dest") == "document" {
			return nil // a user follows a link
		}
		return errors.New("the request is one of a foreign page")
	}
}

// hostname returns a host without its port, in lower case.
func hostname(host string) string {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	return strings.ToLower(strings.TrimSuffix(strings.Trim(host, "[]"), "."))
}

// reserved are names and ends of names that cannot be registered on the internet. httptest uses
// example.com as the host of a request.
var reserved = []string{"localhost", ".localhost", ".svc", ".cluster.local", ".internal", "example.com"}

// isOwn reports whether a Host header can be meant for this page.
func (s *settings) isOwn(host string) bool {
	name := hostname(host)
	if _, err := netip.ParseAddr(name); err == nil || !strings.Contains(name, ".") {
		return true
	}
	return s.isNamed(name) || slices.ContainsFunc(reserved, func(of string) bool { return matches(name, of) })
}

// isNamed reports whether WithHosts has a name.
func (s *settings) isNamed(name string) bool {
	return slices.ContainsFunc(s.hosts, func(of string) bool { return of == "*" || matches(name, strings.TrimPrefix(of, "*")) })
}

// matches reports whether a name is another one, or, if that begins with a dot, ends with it.
func matches(name, of string) bool {
	return name == of || strings.HasPrefix(of, ".") && strings.HasSuffix(name, of)
}
