package simulation

import (
	"net/http"
	"slices"
	"strings"
)

// target is what a request is about.
type target struct {
	verb      string
	resource  string // "deployments.apps", "pods"
	namespace string
	name      string // with the subresource, as in "web-0/status"
	path      string // if there is no resource
}

// ofNamespaces are the subresources of namespaces, whose URLs look like those of
// resources in one.
var ofNamespaces = map[string]bool{"status": true, "finalize": true}

// parseTarget reads the URL of a request as API servers do:
// /api/v1/namespaces/{namespace}/{resource}/{name}/{subresource}, and so on.
func parseTarget(r *http.Request) target {
	parts := strings.Split(strings.Trim(r.URL.Path, "/"), "/")
	t := target{path: r.URL.Path, verb: strings.ToLower(r.Method)}
	group := ""
	switch {
	case len(parts) > 2 && parts[0] == "api":
		parts = parts[2:]
	case len(parts) > 3 && parts[0] == "apis":
		group, parts = "."+parts[1], parts[3:]
	default:
		return t
	}
	if len(parts) > 2 && parts[0] == "namespaces" && !(len(parts) == 3 && ofNamespaces[parts[2]]) {
		t.namespace, parts = parts[1], parts[2:]
	}
	t.resource, t.name = parts[0]+group, strings.Join(parts[1:], "/")
	query := r.URL.Query()
	switch r.Method {
	case http.MethodGet:
		switch {
		case query.Get("watch") == "true" || query.Get("watch") == "1":
			t.verb = "watch"
		case t.name == "":
			t.verb = "list"
		}
	case http.MethodPost:
		t.verb = "create"
	case http.MethodPut:
		t.verb = "update"
	case http.MethodDelete:
		if t.name == "" {
			t.verb = "deletecollection"
		}
	}
	return t
}

// writes reports whether the request changes something.
func (t target) writes() bool {
	return t.resource != "" && !slices.Contains([]string{"get", "list", "watch", "head", "options"}, t.verb)
}

// String returns the target as traces have it.
func (t target) String() string {
	if t.resource == "" {
		return t.verb + " " + t.path
	}
	text := t.verb + " " + t.resource
	switch {
	case t.namespace != "" && t.name != "":
		text += " " + t.namespace + "/" + t.name
	case t.namespace != "":
		text += " in " + t.namespace
	case t.name != "":
		text += " " + t.name
	}
	return text
}
