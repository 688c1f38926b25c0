package answers

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	utiljson "k8s.io/apimachinery/pkg/util/json"
)

// TestHeadsHaveAPlan: none of their fields keeps the fast decoder from being used.
func TestHeadsHaveAPlan(t *testing.T) {
	require.NotNil(t, heads())
	text := []byte(`{"kind":"Pod","apiVersion":"v1","metadata":{"name":"a","namespace":"b","uid":"u","resourceVersion":"7",
		"deletionTimestamp":"2026-01-02T03:04:05Z","deletionGracePeriodSeconds":30,"finalizers":["x"],"labels":{"l":"m"},"generation":3},"spec":{"x":[1,{}]}}`)
	h, ok := heads().Decode(text, nil)
	require.True(t, ok)
	want := new(head)
	require.NoError(t, utiljson.Unmarshal(text, want))
	assert.Equal(t, want, h)
	assert.Equal(t, "u", string(h.Metadata.UID))
}

// FuzzReadJSON: it is as apimachinery reads it.
func FuzzReadJSON(f *testing.F) {
	for _, text := range []string{
		`{"kind":"Pod","metadata":{"name":"a","labels":{"l":"m"}}}`, `{"metadata":{"NAME":"a","finalizers":null}}`, `{"metadata":null}`, `{"metadata":[]}`,
		`{"kind":"A","kind":"B"}`, `{"metadata":{"uid":"\ud800"}}`, `{"metadata":{"deletionTimestamp":"no"}}`, `{} {}`, `[]`, `{"a":1e999}`, `{"spec":{"x":"` + "\xff" + `"}}`,
	} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		want := new(head)
		wantErr := utiljson.Unmarshal(text, want)
		h, err := readJSON(text)
		require.Equal(t, wantErr == nil, err == nil, "%v", wantErr)
		if err == nil {
			require.Equal(t, want, h)
		}
	})
}
