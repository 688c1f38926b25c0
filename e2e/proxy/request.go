package proxy

import (
	"net/http"
	"slices"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"
)

// request is what an HTTP request asks for.
type request struct {
	verb            string // that of the API, or the method in lower case
	resource        schema.GroupResource
	namespace, name string
}

// parseRequest understands a request. One that is not about a resource, such as
// discovery, has an empty resource.
func parseRequest(r *http.Request) request {
	parts := strings.Split(strings.Trim(r.URL.Path, "/"), "/")
	var req request
	switch {
	case len(parts) > 2 && parts[0] == "api":
		parts = parts[2:]
	case len(parts) > 3 && parts[0] == "apis":
		req.resource.Group, parts = parts[1], parts[3:]
	default:
		return request{verb: strings.ToLower(r.Method)}
	}
	// /namespaces/x/status is the namespace's own; /namespaces/x/pods is not.
	if len(parts) > 2 && parts[0] == "namespaces" && !slices.Contains([]string{"status", "finalize"}, parts[2]) {
		req.namespace, parts = parts[1], parts[2:]
	}
	req.resource.Resource = parts[0]
	if len(parts) > 1 {
		req.name = parts[1]
	}
	req.verb = verbOf(r, req.name)
	return req
}

func verbOf(r *http.Request, name string) string {
	switch r.Method {
	case http.MethodGet, http.MethodHead:
		if name != "" {
			return "get"
		}
		if watch, err := strconv.ParseBool(r.URL.Query().Get("watch")); err == nil && watch {
			return "watch"
		}
		return "list"
	case http.MethodPost:
		return "create"
	case http.MethodPut:
		return "update"
	case http.MethodDelete:
		if name == "" {
			return "deletecollection"
		}
	}
	return strings.ToLower(r.Method)
}

// about reports whether a request has the verb and the resource, where empty
// stands for any; a resource is "deployments.apps" or, of any group,
// "deployments".
func (r request) about(verb, resource string) bool {
	return (verb == "" || verb == r.verb) &&
		(resource == "" || resource == r.resource.Resource || resource == r.resource.String())
}

func (r request) String() string {
	parts := []string{r.verb, r.resource.String()}
	if r.name != "" {
		parts = append(parts, strings.TrimPrefix(r.namespace+"/"+r.name, "/"))
	} else if r.namespace != "" {
		parts = append(parts, r.namespace+"/")
	}
	return strings.Join(parts, " ")
}
