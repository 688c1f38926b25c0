// Package decoding compares how types of an API that is not built in are decoded with what
// apimachinery makes of them: those of CustomResourceDefinitions, which have themselves in
// them, and any JSON.
package decoding

import (
	"math/rand/v2"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"sigs.k8s.io/randfill"

	"github.com/kubetyped/informer/internal/test/differential"
	"github.com/kubetyped/informer/internal/test/waves"
)

var apiextensions = func() *differential.Types {
	scheme := runtime.NewScheme()
	if err := apiextensionsv1.AddToScheme(scheme); err != nil {
		panic(err)
	}
	return differential.Of(scheme, fillers)
}()

// fillers fill types that would recurse for ever, or of which not every value is JSON.
func fillers(serializer.CodecFactory) []any {
	return []any{
		func(j *apiextensionsv1.JSON, c randfill.Continue) {
			j.Raw = []byte([]string{`1`, `"x"`, `{"a":[1,null]}`, `true`, `1.5`}[c.Intn(5)])
		},
		func(s *apiextensionsv1.JSONSchemaProps, c randfill.Continue) { fillSchema(s, c, 3) },
	}
}

// fillSchema fills a schema, with others in it to a depth.
func fillSchema(s *apiextensionsv1.JSONSchemaProps, c randfill.Continue, depth int) {
	s.Type, s.Format, s.Description = c.String(5), c.String(5), c.String(20)
	c.Fill(&s.Default)
	c.Fill(&s.Enum)
	c.Fill(&s.Required)
	c.Fill(&s.MaxLength)
	c.Fill(&s.Minimum)
	c.Fill(&s.XPreserveUnknownFields)
	c.Fill(&s.XValidations)
	if depth == 0 {
		return
	}
	within := func() *apiextensionsv1.JSONSchemaProps {
		inner := &apiextensionsv1.JSONSchemaProps{}
		fillSchema(inner, c, depth-1)
		return inner
	}
	for _, name := range []string{"a", "b"}[c.Intn(3):] {
		s.Properties = map[string]apiextensionsv1.JSONSchemaProps{name: *within()}
	}
	switch c.Intn(6) {
	case 0:
		s.Items = &apiextensionsv1.JSONSchemaPropsOrArray{Schema: within()}
	case 1:
		s.Items = &apiextensionsv1.JSONSchemaPropsOrArray{JSONSchemas: []apiextensionsv1.JSONSchemaProps{*within(), *within()}}
	case 2:
		s.AdditionalProperties = &apiextensionsv1.JSONSchemaPropsOrBool{Allows: c.Bool(), Schema: within()}
	case 3:
		s.AllOf = []apiextensionsv1.JSONSchemaProps{*within()}
	case 4:
		s.Dependencies = apiextensionsv1.JSONSchemaDependencies{"a": {Property: []string{"b"}}, "b": {Schema: within()}}
	}
}

var programs = []func(*testing.T, *rand.Rand){apiextensions.Protobuf, apiextensions.JSON, apiextensions.Unstructured}

func TestDecodingWaves(t *testing.T) {
	waves.Run(t, 10, func(t *testing.T, seed uint64) {
		for i, program := range programs {
			program(t, rand.New(rand.NewPCG(seed, uint64(i))))
		}
	})
}

func FuzzDecoding(f *testing.F) {
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, input []byte) {
		r := differential.Choices(input)
		programs[r.IntN(len(programs))](t, r)
	})
}
