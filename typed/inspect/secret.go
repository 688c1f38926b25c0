package inspect

import (
	"context"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/kubetyped/informer/index"
	"github.com/kubetyped/informer/internal/goroutine"
	"github.com/kubetyped/informer/typed"
	"github.com/kubetyped/informer/typed/source"
)

// Why the contents of an object are not shown.
const (
	notAsked = "Contents are not shown: inspect.WithObjectContents shows them."
	isSecret = "Secrets are never shown."
	unknown  = "The contents are not shown: it is not known what the object is, so it may be made of Secrets."
)

// objectOf returns an object as JSON, or why it is not shown. A Secret is not, whatever it
// is read as.
func objectOf(informer typed.AnyInformer, origin source.Origin, key index.Key, contents bool) (object json.RawMessage, withheld string) {
	if hasSecrets(informer, origin) {
		return nil, isSecret
	}
	if !contents {
		return nil, notAsked
	}
	text, err := jsonOf(informer, key)
	if err != nil {
		return nil, textOf(err)
	}
	var fields map[string]any
	if json.Unmarshal(text, &fields) != nil {
		return nil, unknown
	}
	if containsSecret(fields) {
		return nil, isSecret
	}
	if kind, _ := fields["kind"].(string); kind == "" && origin.Kind.Kind == "" && origin.Resource.Resource == "" {
		return nil, unknown
	}
	return text, ""
}

// jsonOf returns an object as JSON. Its methods are other people's.
func jsonOf(informer typed.AnyInformer, key index.Key) (text []byte, err error) {
	defer func() {
		if p := recover(); p != nil {
			goroutine.Report(context.Background(), p)
			text, err = nil, fmt.Errorf("the object cannot be encoded: %v", p)
		}
	}()
	return informer.ObjectJSON(key)
}

// hasSecrets reports whether the objects of an informer are Secrets, in whatever form: by
// where they come from, and by the type that the informer is of.
func hasSecrets(informer typed.AnyInformer, origin source.Origin) bool {
	return strings.EqualFold(origin.Kind.Kind, "Secret") ||
		strings.EqualFold(origin.Resource.Resource, "secrets") ||
		strings.Contains(reflect.TypeOf(informer).String(), "k8s.io/api/core/v1.Secret")
}

// containsSecret reports whether JSON is of a Secret, or has one in it, such as an item of
// a List. What refers to a Secret, such as an Event, has its kind as well, but not what a
// Secret has.
func containsSecret(value any) bool {
	switch value := value.(type) {
	case map[string]any:
		if kind, _ := value["kind"].(string); strings.EqualFold(kind, "Secret") {
			for _, field := range []string{"data", "stringData", "metadata"} {
				if _, has := value[field]; has {
					return true
				}
			}
		}
		for _, inner := range value {
			if containsSecret(inner) {
				return true
			}
		}
	case []any:
		return slices.ContainsFunc(value, containsSecret)
	}
	return false
}
