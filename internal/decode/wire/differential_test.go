package wire_test

import (
	"math/rand/v2"
	"testing"

	"k8s.io/client-go/kubernetes/scheme"

	"github.com/kubetyped/informer/internal/test/differential"
	"github.com/kubetyped/informer/internal/test/waves"
)

var schemeTypes = differential.Of(scheme.Scheme)

// programs compare what is decoded of states of objects with what apimachinery makes of
// each, whatever is held.
var programs = map[string]func(*testing.T, *rand.Rand){
	"protobuf":                  schemeTypes.Protobuf,
	"JSON":                      schemeTypes.JSON,
	"unstructured":              schemeTypes.Unstructured,
	"own structs":               differential.Own,
	"own structs from protobuf": schemeTypes.OwnFromProtobuf,
	"events":                    differential.Events,
	"lists":                     differential.Lists,
}

func TestDecodingWaves(t *testing.T) {
	waves.Run(t, 6, func(t *testing.T, seed uint64) {
		for name, program := range programs {
			program(t, rand.New(rand.NewPCG(seed, uint64(len(name)))))
		}
	})
}

func fuzz(f *testing.F, name string) {
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, choices []byte) { programs[name](t, differential.Choices(choices)) })
}

func FuzzSequencesInProtobuf(f *testing.F)   { fuzz(f, "protobuf") }
func FuzzSequencesInJSON(f *testing.F)       { fuzz(f, "JSON") }
func FuzzUnstructuredSequences(f *testing.F) { fuzz(f, "unstructured") }
func FuzzOwnStructs(f *testing.F)            { fuzz(f, "own structs") }
func FuzzOwnFromProtobuf(f *testing.F)       { fuzz(f, "own structs from protobuf") }
func FuzzEvents(f *testing.F)                { fuzz(f, "events") }
func FuzzLists(f *testing.F)                 { fuzz(f, "lists") }
