package kube

import (
	"reflect"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes/scheme"
)

// ownPod is a Pod in a scheme of the user's own.
type ownPod struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata"`
}

func (p *ownPod) DeepCopyObject() runtime.Object { own := *p; return &own }

// TestAPITypes: the type of a resource is found by the resource's name, for all kinds of which
// client-go's scheme has lists, and by the kind of T, if that is registered.
func TestAPITypes(t *testing.T) {
	t.Parallel()
	own := reflect.TypeFor[ownPod]()
	c := &restConfig{}
	seen := 0
	for kind, of := range scheme.Scheme.AllKnownTypes() {
		if _, isObject := reflect.New(of).Interface().(metav1.Object); !isObject || !scheme.Scheme.Recognizes(kind.GroupVersion().WithKind(kind.Kind+"List")) {
			continue
		}
		plural, _ := meta.UnsafeGuessKindToResource(kind)
		found := c.apiOf(resource{GroupVersionResource: plural}, own)
		require.NotNil(t, found, kind)
		assert.Equal(t, kind, found.Kind)
		assert.Equal(t, of, found.Type)
		seen++
	}
	assert.Greater(t, seen, 100)

	pods := schema.GroupVersionResource{Version: "v1", Resource: "pods"}
	assert.Nil(t, c.apiOf(resource{GroupVersionResource: pods}, reflect.TypeFor[corev1.Pod]()), "it is decoded into itself")
	assert.Nil(t, c.apiOf(resource{GroupVersionResource: schema.GroupVersionResource{Group: "example.com", Version: "v1", Resource: "pods"}}, own))
	assert.Nil(t, c.apiOf(resource{GroupVersionResource: schema.GroupVersionResource{Version: "v1", Resource: "bindings"}}, own), "there are no lists")

	registry := runtime.NewScheme()
	registry.AddKnownTypeWithName(corev1.SchemeGroupVersion.WithKind("Pod"), &ownPod{})
	c.scheme = registry
	known, err := resourceOf(reflect.TypeFor[*ownPod](), c)
	require.NoError(t, err)
	assert.Equal(t, reflect.TypeFor[corev1.Pod](), c.apiOf(known, own).Type, "of client-go's scheme, by its kind")

	registry = runtime.NewScheme()
	registry.AddKnownTypeWithName(schema.GroupVersionKind{Group: "example.com", Version: "v1", Kind: "Widget"}, &corev1.Pod{})
	registry.AddKnownTypeWithName(schema.GroupVersionKind{Group: "example.com", Version: "v1", Kind: "WidgetList"}, &corev1.PodList{})
	c.scheme = registry
	widgets := resource{GroupVersionResource: schema.GroupVersionResource{Group: "example.com", Version: "v1", Resource: "widgets"}}
	assert.Equal(t, "Widget", c.apiOf(widgets, own).Kind.Kind)
	assert.Equal(t, "pods", strings.ToLower(c.apiOf(resource{GroupVersionResource: pods}, own).Kind.Kind)+"s")
}
