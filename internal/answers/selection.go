package answers

import (
	"net/url"

	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/kubetyped/informer/index"
)

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

// selects reports whether a state is among what is asked for.
func (s *selection) selects(key index.Key, set map[string]string) bool {
	return s.labels.Matches(labels.Set(set)) &&
		s.fields.Matches(fields.Set{"metadata.name": key.Name, "metadata.namespace": key.Namespace})
}
