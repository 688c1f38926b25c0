package plan

import (
	"math/rand"
	"reflect"
	"sort"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/api/apitesting/fuzzer"
	metafuzzer "k8s.io/apimachinery/pkg/apis/meta/fuzzer"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/randfill"

	"github.com/kubetyped/informer/internal/decode/parts"
)

// generated is what generated code does.
type generated interface {
	Marshal() ([]byte, error)
	Unmarshal([]byte) error
}

// types returns the types of client-go's scheme that have generated code, in order.
func types() []reflect.Type {
	known := map[reflect.Type]bool{}
	for _, of := range scheme.Scheme.AllKnownTypes() {
		if reflect.PointerTo(of).Implements(reflect.TypeFor[generated]()) {
			known[of] = true
		}
	}
	var all []reflect.Type
	for of := range known {
		all = append(all, of)
	}
	sort.Slice(all, func(i, j int) bool {
		return all[i].PkgPath()+all[i].Name() < all[j].PkgPath()+all[j].Name()
	})
	return all
}

// filler fills objects at random, as apimachinery's own round trips do.
func filler(seed int64) *randfill.Filler {
	codecs := serializer.NewCodecFactory(scheme.Scheme)
	return fuzzer.FuzzerFor(metafuzzer.Funcs, rand.NewSource(seed), codecs).NilChance(0.3).NumElements(0, 3)
}

// decode decodes data by a plan.
func decode(pool *Pool, m *message, data []byte, like unsafe.Pointer) (any, bool) {
	made, recent := reflect.New(m.of), recents.Get().(*parts.Recent)
	defer recents.Put(recent)
	d := decoder{recent: recent, parts: pool.parts}
	ok := d.message(m, made.UnsafePointer(), like, data)
	return made.Interface(), ok
}

// TestAllTypesHaveAPlan: of client-go's scheme, no type is left to generated code.
func TestAllTypesHaveAPlan(t *testing.T) {
	t.Parallel()
	all := types()
	assert.Greater(t, len(all), 300)
	pool := &Pool{}
	for _, of := range all {
		_, err := pool.plan(of, nil)
		assert.NoError(t, err)
	}
}

// TestDecodesLikeGeneratedCode: what a plan decodes of what API servers write is what
// generated code does, with and without parts that are shared.
func TestDecodesLikeGeneratedCode(t *testing.T) {
	t.Parallel()
	fill := filler(1)
	alone, shared := &Pool{}, NewPool()
	for _, of := range types() {
		plan, err := alone.plan(of, nil)
		require.NoError(t, err)
		sharing, err := shared.plan(of, nil)
		require.NoError(t, err)
		var like unsafe.Pointer
		for range 10 {
			obj := reflect.New(of)
			fill.Fill(obj.Interface())
			data, err := obj.Interface().(generated).Marshal()
			require.NoError(t, err)
			want := reflect.New(of).Interface().(generated)
			require.NoError(t, want.Unmarshal(data))

			got, ok := decode(alone, plan, data, nil)
			require.True(t, ok, "%v: %x", of, data)
			require.Equal(t, want, got)
			for range 3 { // seen, kept, found
				got, ok = decode(shared, sharing, data, nil)
				require.True(t, ok)
				require.Equal(t, want, got)
			}
			got, ok = decode(shared, sharing, data, like)
			require.True(t, ok)
			require.Equal(t, want, got)
			like = reflect.ValueOf(got).UnsafePointer()
			got, ok = decode(shared, sharing, data, like)
			require.True(t, ok)
			require.Equal(t, want, got)
		}
	}
}
