package kube

import (
	"reflect"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"

	"github.com/kubetyped/informer/index"
	"github.com/kubetyped/informer/typed/source"
)

// Origin implements source.Located.
func (s *reflectorSource[T]) Origin() source.Origin {
	from := s.origin
	if from.Kind.Empty() {
		from.Kind = kindOf(reflect.TypeFor[T](), &s.config.rest)
	}
	from.Selection = s.config.selection()
	return from
}

// Origin implements source.Located.
func (s *restSource[T]) Origin() source.Origin {
	return source.Origin{
		Host: s.host, Namespace: s.rest.namespace,
		Kind: kindOf(s.of, &s.rest), Resource: s.resource.GroupVersionResource,
		Selection: s.selection(), Slow: s.decodedSlowly(),
	}
}

// kindOf returns the kind of a type, zero if it is in no scheme, or stands for objects of
// any kind.
func kindOf(of reflect.Type, c *restConfig) (kind schema.GroupVersionKind) {
	if of.Kind() != reflect.Pointer || of.Elem().Kind() != reflect.Struct {
		return kind
	}
	if known, err := resourceOf(of, &restConfig{scheme: c.scheme}); err == nil {
		kind = known.kind
	}
	return kind
}

// selection returns in words what a source asks for of all objects.
func (c *sourceConfig) selection() string {
	var parts []string
	if c.labels != nil && !c.labels.Empty() {
		parts = append(parts, "labels "+c.labels.String())
	}
	if c.fields != nil && !c.fields.Empty() {
		parts = append(parts, "fields "+c.fields.String())
	}
	if c.rest.fields != "" {
		parts = append(parts, c.rest.fields)
	}
	if c.rest.withoutDeduplication {
		parts = append(parts, "WithoutDeduplication")
	}
	return strings.Join(parts, " ")
}

// hostOf returns the host and path of the API server of a configuration, "" if they are not
// known.
func hostOf(config *rest.Config) string {
	server, _, err := rest.DefaultServerUrlFor(config)
	if err != nil {
		return ""
	}
	return strings.TrimSuffix(server.Host+server.Path, "/")
}

// originOf returns the origin of a generated client of objects of type T, empty for another
// client. Such a client knows its group and version, but no kind: that is the name of the
// objects' type.
func originOf[T index.Object](client any) (from source.Origin) {
	generated, ok := client.(generatedClient)
	if !ok {
		return from
	}
	from.Namespace = generated.GetNamespace()
	if server, ok := generated.GetClient().(*rest.RESTClient); ok && server != nil {
		from.Host = hostOfClient(server)
		if t := reflect.TypeFor[T](); t.Kind() == reflect.Pointer {
			from.Kind = server.APIVersion().WithKind(t.Elem().Name())
		}
	}
	return from
}

// hostOfClient returns where the API server of a client is.
func hostOfClient(client rest.Interface) string {
	server := client.Get().AbsPath("/").URL()
	return strings.TrimSuffix(server.Host+server.Path, "/")
}
