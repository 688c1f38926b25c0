package plan

import (
	"encoding/json"
	"reflect"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestNamesInJSON: fields are found by the rules of encoding/json.
func TestNamesInJSON(t *testing.T) {
	t.Parallel()
	type inner struct {
		A string `json:"a"`
		B string
		C string `json:"c"`
	}
	type Other struct {
		B string
		C string
	}
	type outer struct {
		inner
		Other `json:",inline"`
		A     string `json:"renamed"`
		D     string `json:"-"`
		//lint:ignore SA5008 a name that is a dash, as encoding/json has it
		E string `json:"-,"`
		//lint:ignore U1000 what is not exported has no name in JSON
		f string
		G string `json:",omitempty"`
		C string `json:"c"`
	}
	of := reflect.TypeFor[outer]()
	fields, err := jsonFields(of)
	require.NoError(t, err)
	names := map[string]string{}
	for name, f := range fields {
		names[name] = of.FieldByIndex(f.index).Name
		if name == "c" {
			assert.Len(t, f.index, 1, "the one that is embedded least deeply")
		}
		assert.Equal(t, of.FieldByIndex(f.index).Type, f.of)
	}
	assert.Equal(t, map[string]string{"a": "A", "c": "C", "C": "C", "renamed": "A", "-": "E", "G": "G"}, names)
	var text outer
	require.NoError(t, json.Unmarshal([]byte(`{"a":"1","B":"2","c":"3","C":"4","renamed":"5","-":"6","G":"7"}`), &text))
	assert.Equal(t, outer{inner: inner{A: "1"}, Other: Other{C: "4"}, A: "5", C: "3", E: "6", G: "7"}, text)
}
