package apitest

import (
	"strings"
	"unicode"

	metavalidation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/managedfields"
	"k8s.io/client-go/applyconfigurations"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
)

// seeder is the field manager of updates without HTTP.
const seeder = "apitest"

// fieldManagers note in objects which manager has set which field, as API servers do, and merge
// applied objects: one is for the objects, one for their status.
type fieldManagers struct{ object, status *managedfields.FieldManager }

// newFieldManagers returns the field managers of a collection.
func (c *collection) newFieldManagers() (*fieldManagers, error) {
	status := fieldpath.MakePathOrDie("status")
	if !c.status {
		all, err := c.newFieldManager("", fieldpath.NewExcludeSetFilter(fieldpath.NewSet()))
		return &fieldManagers{object: all, status: all}, err
	}
	object, err := c.newFieldManager("", fieldpath.NewExcludeSetFilter(fieldpath.NewSet(status)))
	if err != nil {
		return nil, err
	}
	ofStatus, err := c.newFieldManager("status", fieldpath.NewIncludeMatcherFilter(fieldpath.MakePrefixMatcherOrDie("status")))
	return &fieldManagers{object: object, status: ofStatus}, err
}

// newFieldManager returns that of a subresource, or of the objects, for the fields that pass a
// filter. Kinds of Kubernetes are merged as their schema says. Of others, the metadata alone have a
// schema: as in custom resources without one, the rest is merged by field, and lists in it are atomic.
func (c *collection) newFieldManager(subresource string, filter fieldpath.Filter) (*managedfields.FieldManager, error) {
	types, err := newCustomTypes()
	if err != nil {
		return nil, err
	}
	if !c.unstructured() {
		known := applyconfigurations.NewTypeConverter(c.scheme)
		if _, err := known.ObjectToTyped(c.empty()); err == nil {
			types = known
		}
	}
	gv := c.kind.GroupVersion()
	return managedfields.NewDefaultFieldManager(types, c, noDefaults{}, c, c.kind, gv, subresource,
		map[fieldpath.APIVersion]fieldpath.Filter{fieldpath.APIVersion(gv.String()): filter})
}

// fieldManager returns the field manager of a part of the objects.
func (c *collection) fieldManager(p part) (*managedfields.FieldManager, error) {
	managers, err := c.managers()
	if err != nil {
		return nil, err
	}
	if p == statusPart {
		return managers.status, nil
	}
	return managers.object, nil
}

// track returns updated with the managed fields that it has when manager made it of
// present; present is nil for an object that is created. It may change updated.
func (c *collection) track(present, updated runtime.Object, p part, manager string) (runtime.Object, error) {
	fields, err := c.fieldManager(p)
	if err != nil {
		return nil, err
	}
	if present == nil {
		present = c.empty()
	}
	return inSeconds(fields.UpdateNoErrors(present, updated, manager)), nil
}

// inSeconds cuts the times of managed fields as JSON has them, so that an object that
// a client sends back as it read it is the same.
func inSeconds(obj runtime.Object) runtime.Object {
	m := metadataOf(obj)
	entries := m.GetManagedFields()
	for i, entry := range entries {
		if entry.Time != nil {
			entries[i].Time = new(entry.Time.Rfc3339Copy())
		}
	}
	m.SetManagedFields(entries)
	return obj
}

// isTracked reports whether an object has managed fields.
func isTracked(obj runtime.Object) bool { return len(metadataOf(obj).GetManagedFields()) > 0 }

// managerOf returns the name of the field manager of a request: the one it gives, or
// as much of its user agent as API servers take.
func (r *request) managerOf(given string) string {
	if given != "" {
		return given
	}
	agent, _, _ := strings.Cut(r.UserAgent(), "/")
	agent = strings.Map(func(c rune) rune {
		if !unicode.IsPrint(c) {
			return -1
		}
		return c
	}, agent)
	for len(agent) > metavalidation.FieldManagerMaxLength {
		runes := []rune(agent)
		agent = string(runes[:len(runes)-1])
	}
	return agent
}

// empty returns an empty object, with its kind set.
func (c *collection) empty() runtime.Object {
	obj := c.newObject()
	obj.GetObjectKind().SetGroupVersionKind(c.kind)
	return obj
}

// New implements runtime.ObjectCreater.
func (c *collection) New(schema.GroupVersionKind) (runtime.Object, error) { return c.empty(), nil }

// ConvertToVersion implements runtime.ObjectConvertor: it converts a merged object to the
// served type. There is one version.
func (c *collection) ConvertToVersion(in runtime.Object, _ runtime.GroupVersioner) (runtime.Object, error) {
	merged, ok := in.(runtime.Unstructured)
	if !ok || c.unstructured() {
		return in, nil
	}
	out := c.empty()
	return out, runtime.DefaultUnstructuredConverter.FromUnstructured(merged.UnstructuredContent(), out)
}

// Convert implements runtime.ObjectConvertor.
func (c *collection) Convert(in, out, _ any) error { return c.scheme.Convert(in, out, nil) }

// ConvertFieldLabel implements runtime.ObjectConvertor.
func (c *collection) ConvertFieldLabel(_ schema.GroupVersionKind, label, value string) (string, string, error) {
	return c.convertField(label, value)
}

// noDefaults is a runtime.ObjectDefaulter: the server has no defaults.
type noDefaults struct{}

// Default implements runtime.ObjectDefaulter.
func (noDefaults) Default(runtime.Object) {}
