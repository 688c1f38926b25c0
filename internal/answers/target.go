package answers

import (
	"net/url"
	"strings"

	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubetyped/informer/index"
)

// target is what the path of a request names.
type target struct {
	schema.GroupVersionResource

	namespace, name, subresource string
}

// namespaceParts are the subresources of namespaces, which look like resources in one.
var namespaceParts = map[string]bool{"status": true, "finalize": true}

// answersItself contains the subresources whose writes are answered with the object itself.
var answersItself = map[string]bool{
	"": true, "status": true, "finalize": true, "approval": true, "resize": true, "ephemeralcontainers": true,
}

// targetOf returns what a URL below a prefix names, false if it is no resource: it reads paths
// as API servers do.
func targetOf(u *url.URL, prefix string) (t target, ok bool) {
	path, ok := strings.CutPrefix(u.Path, prefix)
	if !ok {
		return t, false
	}
	parts := strings.Split(strings.Trim(path, "/"), "/")
	switch {
	case len(parts) >= 3 && parts[0] == "api":
		t.Version, parts = parts[1], parts[2:]
	case len(parts) >= 4 && parts[0] == "apis":
		t.Group, t.Version, parts = parts[1], parts[2], parts[3:]
	default:
		return t, false
	}
	if parts[0] == "namespaces" && len(parts) > 2 && !namespaceParts[parts[2]] {
		t.namespace, parts = parts[1], parts[2:]
	}
	t.Resource = parts[0]
	if len(parts) > 1 {
		t.name = parts[1]
	}
	if len(parts) > 2 {
		t.subresource = strings.Join(parts[2:], "/")
	}
	return t, true
}

// selection is which objects a list asks for.
type selection struct {
	labels labels.Selector
	fields fields.Selector
	// unknown reports that it cannot be judged here.
	unknown bool
}

// selectionOf returns what the query of a list selects.
func selectionOf(query url.Values) selection {
	s := selection{labels: labels.Everything(), fields: fields.Everything()}
	var err1, err2 error
	if text := query.Get("labelSelector"); text != "" {
		s.labels, err1 = labels.Parse(text)
	}
	if text := query.Get("fieldSelector"); text != "" {
		s.fields, err2 = fields.ParseSelector(text)
	}
	s.unknown = err1 != nil || err2 != nil || query.Has("shardSelector")
	if s.unknown {
		return s
	}
	for _, r := range s.fields.Requirements() {
		s.unknown = s.unknown || r.Field != "metadata.name" && r.Field != "metadata.namespace"
	}
	return s
}

// selects reports whether the selectors match an object's name and labels.
func (s *selection) selects(key index.Key, set map[string]string) bool {
	return s.labels.Matches(labels.Set(set)) &&
		s.fields.Matches(fields.Set{"metadata.name": key.Name, "metadata.namespace": key.Namespace})
}
