package apitest

import (
	"net/http"
	"slices"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubetyped/informer/apitest/internal/wire"
)

// request is an HTTP request for a resource, understood.
type request struct {
	*http.Request
	verb        string
	collection  *collection
	namespace   string
	name        string
	subresource string
	line        *line       // by which it came
	format      wire.Format // of the answer
	commands    []command   // of faults, for the watch that it opens
}

// path is a URL path below /api or /apis, split.
type path struct {
	version schema.GroupVersion
	rest    []string
}

// parsePath splits a URL path. It returns false for a path that is not below a group version.
func parsePath(url string) (path, bool) {
	parts := strings.Split(strings.Trim(url, "/"), "/")
	switch {
	case len(parts) >= 2 && parts[0] == "api":
		return path{schema.GroupVersion{Version: parts[1]}, parts[2:]}, true
	case len(parts) >= 3 && parts[0] == "apis":
		return path{schema.GroupVersion{Group: parts[1], Version: parts[2]}, parts[3:]}, true
	default:
		return path{}, false
	}
}

// parse understands a request for a resource. It returns false when the path
// names no resource that is served.
func (c *catalog) parse(r *http.Request) (*request, bool) {
	p, ok := parsePath(r.URL.Path)
	if !ok {
		return nil, false
	}
	req := &request{Request: r, line: lineOf(r)}
	rest := p.rest
	// /namespaces/x/status is the namespace's own; /namespaces/x/pods is not.
	if len(rest) >= 3 && rest[0] == "namespaces" && !slices.Contains([]string{"status", "finalize"}, rest[2]) {
		req.namespace, rest = rest[1], rest[2:]
	}
	if len(rest) == 0 || len(rest) > 3 {
		return nil, false
	}
	found, ok := c.byResource[p.version.WithResource(rest[0])]
	if !ok || !found.namespaced && req.namespace != "" {
		return nil, false
	}
	req.collection = found
	if len(rest) > 1 {
		req.name = rest[1]
	}
	if len(rest) > 2 {
		req.subresource = rest[2]
	}
	if req.name != "" && found.namespaced && req.namespace == "" {
		return nil, false
	}
	req.verb = verbOf(r, req.name)
	if req.subresource == "" {
		return req, true
	}
	part := found.subresource(req.subresource)
	if part == nil {
		return nil, false
	}
	if r.Method == http.MethodPost {
		req.verb = "create"
	}
	if part.verbs[req.verb] == nil {
		req.verb = ""
	}
	return req, true
}

// verbsOf are the API verbs of methods: of a collection, and of an object in it.
var verbsOf = map[string]struct{ collection, object string }{
	http.MethodGet:    {"list", "get"},
	http.MethodHead:   {"list", "get"},
	http.MethodPost:   {collection: "create"},
	http.MethodPut:    {object: "update"},
	http.MethodPatch:  {object: "patch"},
	http.MethodDelete: {"deletecollection", "delete"},
}

// verbOf returns the API verb of a request, "" when there is none.
func verbOf(r *http.Request, name string) string {
	of := verbsOf[r.Method]
	if name != "" {
		return of.object
	}
	if watch, _ := strconv.ParseBool(r.URL.Query().Get("watch")); watch && of.collection == "list" {
		return "watch"
	}
	return of.collection
}

// writes reports whether the request is to change something.
func (r *request) writes() bool {
	return r.verb != "get" && r.verb != "list" && r.verb != "watch"
}
