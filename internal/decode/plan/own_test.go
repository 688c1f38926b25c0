package plan

import (
	"encoding/binary"
	"encoding/json"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes/scheme"

	"github.com/kubetyped/informer/internal/decode/parts"
)

// ownPair is a type of the API, a struct with fields of it, and the plan between them.
type ownPair struct {
	api, into reflect.Type
	pool      *Pool
	plan      *message
}

func newOwnPair(pool *Pool, api, into reflect.Type) (ownPair, error) {
	plan, err := pool.made(func(b *builder) (*message, error) { return b.own(api, into, nil, true) })
	return ownPair{api, into, pool, plan}, err
}

// decode decodes data by the plan.
func (p ownPair) decode(data []byte, like unsafe.Pointer) (any, bool) {
	made := reflect.New(p.into)
	d := decoder{recent: new(parts.Recent), parts: p.pool.parts, own: true}
	ok := d.message(p.plan, made.UnsafePointer(), like, data) && !d.unfit
	return made.Interface(), ok
}

// ownPairs returns the structs of users with their types of the API, and all types of
// client-go's scheme with themselves, and the names of those that there is no plan of.
func ownPairs(t testing.TB, pool *Pool) (pairs []ownPair, without []string) {
	t.Helper()
	structs, listed := ownStructs(), map[reflect.Type]bool{}
	for kind, of := range scheme.Scheme.AllKnownTypes() {
		kind.Kind += "List"
		if scheme.Scheme.Recognizes(kind) {
			listed[of] = true
		}
	}
	for _, api := range types() {
		for _, into := range structs[api] {
			pair, err := newOwnPair(pool, api, into)
			require.NoError(t, err)
			pairs = append(pairs, pair)
		}
		if !listed[api] {
			continue
		}
		pair, err := newOwnPair(pool, api, api)
		if err != nil {
			without = append(without, strings.TrimPrefix(api.PkgPath(), "k8s.io/api/")+"."+api.Name())
			continue
		}
		pairs = append(pairs, pair)
	}
	return pairs, without
}

// TestOwnStructsDecodeLikeJSON: what a plan decodes into a struct of the user's own is
// what the JSON of the same object is decoded into.
func TestOwnStructsDecodeLikeJSON(t *testing.T) {
	t.Parallel()
	fill := filler(4)
	random := rand.New(rand.NewPCG(1, 2))
	pairs, _ := ownPairs(t, NewPool())
	for _, pair := range pairs {
		var like unsafe.Pointer
		for i := range 12 {
			obj := reflect.New(pair.api)
			fill.Fill(obj.Interface())
			data := marshal(t, obj.Interface().(generated))
			if i%3 == 1 {
				data = thinned(random, data)
			}
			want := reflect.New(pair.into).Interface()
			if err := throughJSON(pair.api, data, want); err != nil {
				require.Equal(t, 1, i%3, "what was left out had to be there: %v", err)
				continue
			}
			for range 3 { // seen, kept, found
				got, ok := pair.decode(data, like)
				if !ok && i%3 == 1 {
					break // a time that is empty, say
				}
				require.True(t, ok, "%v from %v", pair.into, pair.api)
				require.Equal(t, want, got)
				like = reflect.ValueOf(got).UnsafePointer()
			}
		}
		want := reflect.New(pair.into).Interface()
		require.NoError(t, throughJSON(pair.api, nil, want))
		got, ok := pair.decode(nil, like)
		require.True(t, ok)
		require.Equal(t, want, got)
	}
}

// thinned leaves some fields out of a message, and of the messages in it. What only
// looks like a message is thinned as well.
func thinned(random *rand.Rand, data []byte) []byte {
	var out []byte
	for i := 0; i < len(data); {
		tag, at := varint(data, i)
		if at < 0 || tag>>3 == 0 {
			return data
		}
		end := skip(data, at, tag&7)
		if end < 0 {
			return data
		}
		switch random.IntN(5) {
		case 0:
		case 1, 2, 3:
			if tag&7 == bytesType {
				begin, _ := span(data, at)
				inner := thinned(random, data[begin:end])
				out = binary.AppendUvarint(append(out, data[i:at]...), uint64(len(inner)))
				out = append(out, inner...)
				break
			}
			fallthrough
		default:
			out = append(out, data[i:end]...)
		}
		i = end
	}
	return out
}

// TestTypesWithoutAPlanFromJSON lists the kinds that a user's struct cannot have whole:
// claims in StatefulSets have a kind that is not in protobuf, and what else requests for
// certificates have are slices that are messages.
func TestTypesWithoutAPlanFromJSON(t *testing.T) {
	t.Parallel()
	_, without := ownPairs(t, &Pool{})
	assert.Equal(t, []string{
		"apps/v1.StatefulSet", "apps/v1beta1.StatefulSet", "apps/v1beta2.StatefulSet",
		"certificates/v1.CertificateSigningRequest", "certificates/v1beta1.CertificateSigningRequest",
	}, without)
}

// FuzzOwn: whatever the bytes are, what a plan decodes into a struct of the user's own
// is what JSON gives, if there is JSON of it.
func FuzzOwn(f *testing.F) {
	pairs, _ := ownPairs(f, NewPool())
	fill := filler(5)
	for i, pair := range pairs {
		obj := reflect.New(pair.api)
		fill.Fill(obj.Interface())
		data := marshal(f, obj.Interface().(generated))
		f.Add(uint16(i), data, data[:len(data)/2])
	}
	f.Fuzz(func(t *testing.T, which uint16, data, other []byte) {
		pair := pairs[int(which)%len(pairs)]
		var like unsafe.Pointer
		for _, data := range [][]byte{other, data, other, data, data} {
			got, ok := pair.decode(data, like)
			if !ok {
				continue
			}
			want := reflect.New(pair.into).Interface()
			err := throughJSON(pair.api, data, want)
			if err != nil && pair.api != pair.into {
				continue // the error is in a field that the plan skips
			}
			require.NoError(t, err)
			require.Equal(t, want, got)
			like = reflect.ValueOf(got).UnsafePointer()
		}
	})
}

// TestValuesThatJSONChanges: what is another value in JSON than in protobuf comes out as
// that, or is left to DecodeAnyway.
func TestValuesThatJSONChanges(t *testing.T) {
	t.Parallel()
	metadata := func(value string) string { return text(1, value) }
	entry := func(raw string) string { return metadata(text(17, text(7, text(1, raw)))) }
	for name, test := range map[string]struct {
		data   string
		byPlan bool
	}{
		"letters that are none":          {metadata(text(1, "a\xff")), false},
		"a letter that is none":          {metadata(text(1, "\xff")), false},
		"a key that is none":             {metadata(text(11, text(1, "\xfe")+text(2, "b"))), false},
		"a time of the year 10000":       {metadata(text(8, "\x08"+string(binary.AppendUvarint(nil, 253402300800)))), false},
		"a time with nanoseconds":        {metadata(text(8, "\x08\x01\x10\x01")), true},
		"a time that is zero":            {metadata(text(8, "\x08\x80\x92\xb8\xc3\x98\xfe\xff\xff\xff\x01")), true},
		"a pointer to a time of zero":    {metadata(text(9, "")), false},
		"managed fields with spaces":     {entry(`{"f:a": {}}`), false},
		"managed fields with brackets":   {entry(`{"f:<":{}}`), false},
		"managed fields that are none":   {entry(`{"f:a"`), false},
		"managed fields that are null":   {entry(`null`), false},
		"managed fields that are empty":  {entry(``), false},
		"managed fields with a space":    {entry(`{"k:{\"a\":\"b c\"}":{".":{}}}`), true},
		"a quantity that is not written": {text(2, text(32, text(1, "cpu")+text(2, text(1, "1000m")))), true},
		"a quantity without a text":      {text(2, text(32, text(1, "cpu")+text(2, ""))), true},
	} {
		plan, err := From[*corev1.Pod](reflect.TypeFor[corev1.Pod](), NewPool(), nil)
		require.NoError(t, err)
		for range 3 {
			got, ok := plan.Decode([]byte(test.data), nil)
			assert.Equal(t, test.byPlan, ok, name)
			want, wantErr := plan.DecodeAnyway([]byte(test.data))
			if ok {
				require.NoError(t, wantErr, name)
				assert.Equal(t, want, got, name)
			}
			pod := &corev1.Pod{}
			require.NoError(t, pod.Unmarshal([]byte(test.data)))
			_, err := json.Marshal(pod)
			assert.Equal(t, err != nil || strings.Contains(name, "10000"), wantErr != nil, "%s: %v", name, wantErr)
		}
	}
}

// TestOwnStructsShareParts: your own structs are deduplicated as types of the API, except pointers
// to fields that are values in the API.
func TestOwnStructsShareParts(t *testing.T) {
	plan, err := From[*struct {
		metav1.ObjectMeta `json:"metadata"`
		Spec              struct {
			Tolerations []corev1.Toleration `json:"tolerations"`
			Containers  []struct {
				Image string   `json:"image"`
				Args  []string `json:"args"`
			} `json:"containers"`
		} `json:"spec"`
	}](reflect.TypeFor[corev1.Pod](), NewPool(), nil)
	require.NoError(t, err)
	before, ok := plan.Decode(marshal(t, pod(1)), nil)
	require.True(t, ok)
	assert.Equal(t, "registry/shop:1.0", before.Spec.Containers[0].Image)
	next := pod(1)
	next.Spec.NodeName = "other"
	after, ok := plan.Decode(marshal(t, next), before)
	require.True(t, ok)
	assert.Same(t, &before.Spec.Containers[0], &after.Spec.Containers[0])
	assert.Equal(t, address(before.Labels), address(after.Labels))
	_, _ = plan.Decode(marshal(t, pod(2)), nil)
	a, _ := plan.Decode(marshal(t, pod(3)), nil)
	b, _ := plan.Decode(marshal(t, pod(4)), nil)
	assert.Same(t, &a.Spec.Tolerations[0], &b.Spec.Tolerations[0])
	assert.Same(t, &a.Spec.Containers[0].Args[0], &b.Spec.Containers[0].Args[0])

	alone, err := From[*sixFields](reflect.TypeFor[corev1.Pod](), nil, nil)
	require.NoError(t, err)
	data := marshal(t, pod(1))
	assert.LessOrEqual(t, testing.AllocsPerRun(100, func() { alone.Decode(data, nil) }), 5.0, "the struct, and its strings")
}

// TestOwnStructsHaveTheirKind: it is set where there are fields for it.
func TestOwnStructsHaveTheirKind(t *testing.T) {
	t.Parallel()
	kind := metav1.TypeMeta{APIVersion: "v1", Kind: "Secret"}
	one, err := From[*secretInfo](reflect.TypeFor[corev1.Secret](), nil, nil)
	require.NoError(t, err)
	secret := &secretInfo{}
	one.SetKind(secret, kind)
	assert.Equal(t, &secretInfo{Kind: "Secret"}, secret)
	both, err := From[*podInfo](reflect.TypeFor[corev1.Pod](), nil, nil)
	require.NoError(t, err)
	pod := &podInfo{}
	both.SetKind(pod, kind)
	assert.Equal(t, &podInfo{TypeMeta: kind}, pod)
}

// TestMasksOfOwnStructs: what a mask leaves out is empty.
func TestMasksOfOwnStructs(t *testing.T) {
	t.Parallel()
	fill := filler(6)
	mask, err := Without("metadata.managedFields", "spec.containers.env", "status.startTime")
	require.NoError(t, err)
	require.NoError(t, mask.Check(reflect.TypeFor[*podInfo]()))
	plan, err := From[*podInfo](reflect.TypeFor[corev1.Pod](), NewPool(), mask)
	require.NoError(t, err)
	var like *podInfo
	for range 30 {
		pod := &corev1.Pod{}
		fill.Fill(pod)
		data := marshal(t, pod)
		want, err := plan.DecodeAnyway(data)
		require.NoError(t, err)
		mask.Apply(want)
		got, ok := plan.Decode(data, like)
		require.True(t, ok)
		require.Equal(t, want, got)
		like = got
	}
}
