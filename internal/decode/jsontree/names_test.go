package jsontree

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	utiljson "k8s.io/apimachinery/pkg/util/json"

	"github.com/kubetyped/informer/internal/decode/plan"
)

// named declares names in tags of which encoding/json does not take all.
type named struct {
	Arrow   string `json:"a→b"`
	Space   string `json:"a\u00a0b"`
	Control string `json:"a\x7fb,omitempty"`
	//lint:ignore SA5008 encoding/json reads what is not quoted as it is
	Quote  string `json:"a'b"`
	Letter string `json:"ä"`
	Sharp  string `json:"ß"`
	Digit  string `json:"٣"`
	Slash  string `json:"a/b"`
	Marks  string `json:"!#$%&()*+-./:;<=>?@[]^_{|}~ "`
	Empty  string `json:""`
	//lint:ignore SA5008 it is called so
	Dash    string `json:"-,"`
	Skipped string `json:"-"`
	Loose
	Within `json:"x→y"`
}

// Loose is an interface that is embedded.
type Loose any

// Within is embedded, and has a name that does not count.
type Within struct{ Deep, Loose2 string }

// TestNames: a member is that of a field if apimachinery says so.
func TestNames(t *testing.T) {
	t.Parallel()
	structs, err := NewStructs[*named](reflect.TypeFor[*named](), nil)
	require.NoError(t, err)
	of := reflect.TypeFor[named]()
	keys := []string{"Deep", "deep", "x→y", "Within"}
	for i := range of.NumField() {
		f := of.Field(i)
		tag, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		keys = append(keys, f.Name, tag, strings.ToUpper(tag))
	}
	for _, key := range keys {
		for _, value := range []string{`"v"`, `{"Deep":"v"}`} {
			name, err := json.Marshal(key)
			require.NoError(t, err)
			text := []byte(`{` + string(name) + `:` + value + `}`)
			want := &named{}
			wantErr := utiljson.Unmarshal(text, want)
			got, ok := structs.Decode(text, nil)
			assert.Equal(t, wantErr == nil, ok, "%s: %v", text, wantErr)
			if ok && wantErr == nil {
				assert.Equal(t, want, got, string(text))
			}
		}
	}
}

// embedding embeds types in unusual ways.
type embedding struct {
	hidden
	Loose
	Odd  string `json:"a→b"`
	base `json:"base"`
}

type base struct {
	Word string `json:"word"`
	Size *int   `json:"size"`
}

type hidden struct {
	Inner string `json:"inner"`
	Shown string
}

// TestMasksOfEmbedded: a mask selects the same fields in each decoder.
func TestMasksOfEmbedded(t *testing.T) {
	t.Parallel()
	text := []byte(`{"inner":"i","Shown":"s","Loose":1,"Odd":"o","base":{"word":"w","size":1}}`)
	for _, path := range []string{"inner", "Shown", "Loose", "Odd", "base", "base.size"} {
		only, err := plan.Only(path)
		require.NoError(t, err)
		without, err := plan.Without(path)
		require.NoError(t, err)
		for _, mask := range []*plan.Mask{only, without} {
			structs, err := NewStructs[*embedding](reflect.TypeFor[*embedding](), mask)
			require.NoError(t, err)
			got, ok := structs.Decode(text, nil)
			require.True(t, ok)
			want := &embedding{}
			require.NoError(t, utiljson.Unmarshal(text, want))
			mask.Apply(want)
			assert.Equal(t, want, got, path)
		}
	}
}
