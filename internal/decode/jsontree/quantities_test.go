package jsontree

import (
	"encoding/json"
	"maps"
	"math/rand"
	"reflect"
	"runtime"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/api/apitesting/fuzzer"
	metafuzzer "k8s.io/apimachinery/pkg/apis/meta/fuzzer"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/client-go/kubernetes/scheme"

	"github.com/kubetyped/informer/internal/test/cached"
)

// TestQuantitiesOfAllStructsAreTheirOwn: a read of a quantity can write to it, so no two objects
// have the same one, even if they share the unchanged values around it.
func TestQuantitiesOfAllStructsAreTheirOwn(t *testing.T) {
	t.Parallel()
	codecs := serializer.NewCodecFactory(scheme.Scheme)
	fill := fuzzer.FuzzerFor(metafuzzer.Funcs, rand.NewSource(4), codecs).NilChance(0.2).NumElements(1, 1)
	found := 0
	for kind, of := range scheme.Scheme.AllKnownTypes() {
		obj := reflect.New(of).Interface()
		if fill.Fill(obj); len(cached.Quantities(obj)) == 0 {
			continue
		}
		text, err := json.Marshal(obj)
		require.NoError(t, err, kind)
		s := newStructsOf(t, of, nil)
		owners := map[uintptr]string{}
		var like any
		var all []any
		for range 3 {
			like = s.check(t, text, like)
			require.NotNil(t, like)
			theirs := cached.Quantities(like)
			require.NotEmpty(t, theirs)
			for address, path := range theirs {
				assert.NotContains(t, owners, address, path)
			}
			maps.Copy(owners, theirs)
			all = append(all, like)
		}
		runtime.KeepAlive(all)
		found++
	}
	assert.Greater(t, found, 10)
}
