package plan

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/api/resource"
)

// TestQuantitiesAreParsedOnce: a quantity that comes again costs nothing, and is what
// the generated code makes of it.
func TestQuantitiesAreParsedOnce(t *testing.T) {
	for text, allocs := range map[string]float64{
		"250m": 0, "1Gi": 0, "0": 0, "1e3": 0,
		"123456789012345678901234567": -1, // parts of it could be modified: it is parsed each time
		"":                            -1, // an error, each time
	} {
		data := append([]byte{1<<3 | bytesType, byte(len(text))}, text...)
		for range 3 {
			var want resource.Quantity
			wanted := want.Unmarshal(data)
			got, err := quantityOf(data)
			require.Equal(t, wanted, err, text)
			require.Equal(t, want, got, text)
		}
		if allocs == 0 {
			assert.Zero(t, testing.AllocsPerRun(100, func() { _, _ = quantityOf(data) }), text)
		}
	}
}

// TestQuantitiesShareNothing: to modify one that was decoded leaves those that come later alone.
func TestQuantitiesShareNothing(t *testing.T) {
	for _, text := range []string{
		"500m",
		"12345678901234567890", // more than 64 bits, which stand behind a pointer
	} {
		data := append([]byte{1<<3 | bytesType, byte(len(text))}, text...)
		for range 2 {
			one, err := quantityOf(data)
			require.NoError(t, err)
			one.Add(resource.MustParse("1"))
		}
		again, err := quantityOf(data)
		require.NoError(t, err)
		assert.Equal(t, text, again.String())
	}
}
