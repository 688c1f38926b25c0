package apitest

import (
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/kubetyped/informer/apitest/internal/store"
)

// selection is which objects of a collection a list or a watch is about.
type selection struct {
	collection *collection
	namespace  string // empty: all
	labels     labels.Selector
	fields     fields.Selector
}

// selects returns a selection; selectors may be nil. It returns a 400 status for
// a field that the resource cannot select by.
func (c *collection) selects(namespace string, l labels.Selector, f fields.Selector) (*selection, error) {
	s := &selection{collection: c, namespace: namespace, labels: labels.Everything(), fields: fields.Everything()}
	if l != nil {
		s.labels = l
	}
	if f != nil {
		checked, err := f.Transform(c.convertField)
		if err != nil {
			return nil, apierrors.NewBadRequest(err.Error())
		}
		s.fields = checked
	}
	return s, nil
}

// convertField checks the label of a field selector, by the scheme's conversion
// if the resource does not know it itself.
func (c *collection) convertField(label, value string) (string, string, error) {
	if c.hasField(label) {
		return label, value, nil
	}
	if c.scheme != nil {
		converted, value, err := c.scheme.ConvertFieldLabel(c.kind, label, value)
		if err == nil && c.hasField(converted) {
			return converted, value, nil
		}
	}
	return "", "", fmt.Errorf("field label not supported: %s", label)
}

func (c *collection) hasField(label string) bool {
	_, known := c.fields[label]
	return known || label == "metadata.name" || label == "metadata.namespace"
}

// unfiltered reports whether all objects of the namespace are selected.
func (s *selection) unfiltered() bool { return s.labels.Empty() && s.fields.Empty() }

// matches reports whether a state, nil for none, is selected. It does not look
// at the namespace.
func (s *selection) matches(v *store.Version) bool {
	if v == nil {
		return false
	}
	if s.unfiltered() {
		return true
	}
	m := metadataOf(v.Object)
	return (s.labels.Empty() || s.labels.Matches(labels.Set(m.GetLabels()))) &&
		(s.fields.Empty() || s.fields.Matches(objectFields{s.collection, v.Object}))
}

// inNamespace reports whether an event is about the selected namespace.
func (s *selection) inNamespace(e *store.Event) bool {
	if s.namespace == "" || !s.collection.namespaced {
		return true
	}
	return metadataOf(e.Current.Object).GetNamespace() == s.namespace
}

// see returns the type of the event of the namespace that the watch gets, and the object to send:
// an object that leaves the selection looks deleted, one that enters it added. It returns false if
// the watch gets none.
func (s *selection) see(e *store.Event) (watch.EventType, runtime.Object, bool) {
	before, now := s.matches(e.Previous), !e.Current.Deleted && s.matches(e.Current)
	switch {
	case before && now:
		return watch.Modified, e.Current.Object, true
	case now:
		return watch.Added, e.Current.Object, true
	case before && e.Current.Deleted:
		return watch.Deleted, e.Current.Object, true
	case before:
		left := e.Previous.Object.DeepCopyObject()
		copyVersion(e.Current.Object, left)
		return watch.Deleted, left, true
	default:
		return "", nil, false
	}
}

// objectFields are the fields of an object, computed when they are asked for.
type objectFields struct {
	collection *collection
	object     runtime.Object
}

// Has implements fields.Fields.
func (o objectFields) Has(label string) bool { return o.collection.hasField(label) }

// Get implements fields.Fields.
func (o objectFields) Get(label string) string {
	if f, ok := o.collection.fields[label]; ok {
		return f(o.object)
	}
	switch label {
	case "metadata.name":
		return metadataOf(o.object).GetName()
	case "metadata.namespace":
		return metadataOf(o.object).GetNamespace()
	default:
		return ""
	}
}
