package main

import (
	"encoding/json"
	"os"
	"reflect"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/util/yaml"
)

// TestManifest compares crd.yaml with the struct and the resource.
func TestManifest(t *testing.T) {
	text, err := os.ReadFile("crd.yaml")
	require.NoError(t, err)
	content, err := yaml.ToJSON(text)
	require.NoError(t, err)
	type schema struct {
		Properties map[string]schema
	}
	var crd struct {
		Metadata struct{ Name string }
		Spec     struct {
			Group    string
			Names    struct{ Plural string }
			Versions []struct {
				Name         string
				Subresources map[string]any
				Schema       struct{ OpenAPIV3Schema schema }
			}
		}
	}
	require.NoError(t, json.Unmarshal(content, &crd))
	require.Len(t, crd.Spec.Versions, 1)
	version := crd.Spec.Versions[0]
	assert.Equal(t, networks.GroupResource().String(), crd.Metadata.Name)
	assert.Equal(t, []string{networks.Group, networks.Version, networks.Resource}, []string{crd.Spec.Group, version.Name, crd.Spec.Names.Plural})
	assert.Contains(t, version.Subresources, "status")
	for part, of := range map[string]any{"spec": NetworkSpec{}, "status": NetworkStatus{}} {
		var fields, documented []string
		for field := range reflect.TypeOf(of).Fields() {
			name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
			fields = append(fields, name)
		}
		for name := range version.Schema.OpenAPIV3Schema.Properties[part].Properties {
			documented = append(documented, name)
		}
		assert.ElementsMatch(t, fields, documented, part)
	}
}
