package jsontree

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestLongArrays: an array of any length is decoded as by apimachinery, wherever it differs from
// the earlier one, and is the same value if it does not.
func TestLongArrays(t *testing.T) {
	t.Parallel()
	for _, shares := range []bool{false, true} {
		d := New(shares, nil)
		for _, length := range []int{manyElements - 1, manyElements, manyElements + 1, 3*manyElements + 7} {
			array := func(length, changed int, to string) []byte {
				elements := make([]string, length)
				for i := range elements {
					elements[i] = fmt.Sprintf(`{"n":%d}`, i)
				}
				if changed >= 0 {
					elements[changed] = to
				}
				return []byte(`{"spec":{"list":[` + strings.Join(elements, ",") + `]}}`)
			}
			like := check(t, d, array(length, -1, ""), nil)
			again := check(t, d, array(length, -1, ""), like)
			assert.Equal(t, shares, dataOf(like["spec"]) == dataOf(again["spec"]), "it is the same")
			for _, changed := range []int{0, manyElements - 1, manyElements, 2*manyElements + 1, length - 1} {
				if changed < length {
					require.NotNil(t, check(t, d, array(length, changed, `"x"`), like))
				}
			}
			require.NotNil(t, check(t, d, array(length+1, -1, ""), like))
			require.NotNil(t, check(t, d, array(length-1, -1, ""), like))
		}
	}
}
