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
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes/scheme"
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
	d := decoder{pool: p.pool, own: true}
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
				continue // the error is in what is skipped
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

// text returns a field of a message: a text, or another message.
func text(number uint64, value string) string {
	return string(binary.AppendUvarint(nil, number<<3|bytesType)) + string(rune(len(value))) + value
}

// sourceInfo is a volume, of which all fields can be compared.
type sourceInfo struct {
	Name      string `json:"name"`
	ConfigMap *struct {
		Optional bool `json:"optional"`
	} `json:"configMap"`
	Seen bool `json:"-"`
}

// ephemeralInfo has a field that is always there.
type ephemeralInfo struct {
	Name  *string `json:"name"`
	Image *string `json:"image"`
}

// TestOtherStatesAreNotTaken: what a state before had, and an object does not have, is
// not there; and what somebody has modified, which nobody may, is not taken.
func TestOtherStatesAreNotTaken(t *testing.T) {
	t.Parallel()
	type spec struct {
		Volumes   []sourceInfo    `json:"volumes"`
		Ephemeral []ephemeralInfo `json:"ephemeralContainers"`
	}
	type info struct {
		Spec spec `json:"spec"`
	}
	pair, err := newOwnPair(NewPool(), reflect.TypeFor[corev1.Pod](), reflect.TypeFor[info]())
	require.NoError(t, err)
	volume := func(more string) string { return text(2, text(1, text(1, "v")+more)) }
	container := func(fields string) string { return text(2, text(34, fields)) }
	source := text(2, text(19, "\x18\x01"))
	name, image, both := text(1, text(1, "")), text(1, text(2, "x")), text(1, text(1, "")+text(2, ""))
	for _, test := range []struct {
		before, after string
		modify        func(*spec)
		same          bool
	}{
		{volume(source), volume(source), nil, true},
		{volume(source), volume(""), nil, false},
		{volume(""), volume(source), nil, false},
		{volume(source), volume(source), func(s *spec) { s.Volumes[0].Seen = true }, false},
		{container(name), container(name), nil, true},
		{container(image), container(name), nil, false},
		{container(image), container(image), func(s *spec) { s.Ephemeral[0].Name = nil }, false},
		{container(name), container(name), func(s *spec) { s.Ephemeral[0].Image = new("") }, false},
		{container(""), container(""), nil, false},
		{container(both), container(both), func(s *spec) { s.Ephemeral[0].Image = new("") }, false},
	} {
		before, ok := pair.decode([]byte(test.before), nil)
		require.True(t, ok)
		was := before.(*info)
		if test.modify != nil {
			test.modify(&was.Spec)
		}
		got, ok := pair.decode([]byte(test.after), unsafe.Pointer(was))
		require.True(t, ok)
		want := &info{}
		require.NoError(t, throughJSON(pair.api, []byte(test.after), want))
		require.Equal(t, want, got, "%q", test.after)
		is := got.(*info)
		assert.Equal(t, test.same, unsafe.SliceData(was.Spec.Volumes) == unsafe.SliceData(is.Spec.Volumes) &&
			unsafe.SliceData(was.Spec.Ephemeral) == unsafe.SliceData(is.Spec.Ephemeral), "%q after %q", test.after, test.before)
	}
}

// TestWiderNumbers: a number of 32 bits has its sign, and no more bits than that.
func TestWiderNumbers(t *testing.T) {
	t.Parallel()
	plan, err := From[*podInfo](reflect.TypeFor[corev1.Pod](), nil, nil)
	require.NoError(t, err)
	for number, want := range map[uint64]int64{7: 7, 1<<64 - 7: -7, 1<<40 + 7: 7, 1<<32 - 7: -7} {
		data := []byte(text(2, string(binary.AppendUvarint([]byte{200, 1}, number)))) // field 25
		got, ok := plan.Decode(data, nil)
		require.True(t, ok)
		assert.Equal(t, want, got.Spec.Priority)
		slow, err := plan.DecodeAnyway(data)
		require.NoError(t, err)
		assert.Equal(t, slow, got)
	}
}

// TestZeroThatIsNotAllZeroes: a type that says itself what omitzero leaves out, such as
// a quantity, is not known.
func TestZeroThatIsNotAllZeroes(t *testing.T) {
	t.Parallel()
	f := field{kind: kindOpaque}
	quantity := jsonField{of: reflect.TypeFor[resource.Quantity](), omitZero: true}
	assert.ErrorContains(t, f.whenAbsent(quantity, false, reflect.ValueOf(resource.Quantity{})), "a way of its own to be left out")
	created := jsonField{of: reflect.TypeFor[metav1.Time](), omitZero: true}
	assert.NoError(t, f.whenAbsent(created, false, reflect.ValueOf(metav1.Time{})))
}

// TestOwnStructsShareParts: as types of the API do, but for what they have pointers to
// that is a value in the API.
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

type readsItself struct{ corev1.PodSpec }

func (*readsItself) UnmarshalJSON([]byte) error { return nil }

// TestNoPlanOfOwnStruct: where JSON may give anything that a plan does not, there is
// none, and the error tells why.
func TestNoPlanOfOwnStruct(t *testing.T) {
	t.Parallel()
	refused[struct {
		Spec struct {
			Color string `json:"color"`
		} `json:"spec"`
	}](t, `"spec": struct { Color string "json:\"color\"" }, "color": a v1.PodSpec has no such field`)
	refused[struct{ NodeName string }](t, `"NodeName": a v1.Pod has no such field`)
	refused[struct {
		Spec any `json:"spec"`
	}](t, "it is not known how a v1.PodSpec becomes a interface {}")
	refused[struct {
		Spec json.RawMessage `json:"spec"`
	}](t, "a v1.PodSpec becomes a json.RawMessage")
	refused[struct {
		Spec map[string]string `json:"spec"`
	}](t, "a v1.PodSpec becomes a map[string]string")
	refused[struct {
		Spec readsItself `json:"spec"`
	}](t, "a v1.PodSpec becomes a plan.readsItself")
	refused[struct {
		Spec **corev1.PodSpec `json:"spec"`
	}](t, "a v1.PodSpec becomes a *v1.PodSpec")
	refused[struct {
		Kind *string `json:"kind"`
	}](t, `"kind": it is not known how a string becomes a *string`)
	refused[struct {
		*metav1.ObjectMeta
	}](t, "a *v1.ObjectMeta is embedded")
	refused[struct {
		Meta *metav1.ObjectMeta `json:"metadata,string"`
	}](t, `the option "string" of its tag is not known`)
	type meta struct {
		Created    int               `json:"creationTimestamp"`
		Generation int32             `json:"generation"`
		Labels     map[int]string    `json:"labels"`
		Finalizers *[]string         `json:"finalizers"`
		Owners     []*struct{}       `json:"ownerReferences"`
		Notes      map[string]*label `json:"annotations"`
		Name       []byte            `json:"name"`
	}
	of := reflect.TypeFor[meta]()
	for i := range of.NumField() {
		_, err := newOwnPair(&Pool{}, reflect.TypeFor[metav1.ObjectMeta](), reflect.StructOf([]reflect.StructField{of.Field(i)}))
		assert.ErrorContains(t, err, "it is not known how", of.Field(i).Name)
	}
	_, err := From[sixFields](reflect.TypeFor[corev1.Pod](), nil, nil)
	assert.ErrorContains(t, err, "a plan.sixFields is not a pointer to a struct")
	_, err = From[*readsItself](reflect.TypeFor[corev1.PodSpec](), nil, nil)
	assert.ErrorContains(t, err, "has a way of its own out of JSON")
	_, err = From[*sixFields](reflect.TypeFor[sixFields](), nil, nil)
	assert.ErrorContains(t, err, "a plan.sixFields has no generated code for protobuf")
}

// refused checks that there is no plan from Pods into a struct.
func refused[S any](t *testing.T, message string) {
	t.Helper()
	_, err := From[*S](reflect.TypeFor[corev1.Pod](), nil, nil)
	assert.ErrorContains(t, err, message)
}

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
		E     string `json:"-,"`
		f     string
		G     string `json:",omitempty"`
	}
	of := reflect.TypeFor[outer]()
	fields, err := jsonFields(of)
	require.NoError(t, err)
	names := map[string]string{}
	for name, f := range fields {
		names[name] = of.FieldByIndex(f.index).Name
		assert.Equal(t, of.FieldByIndex(f.index).Type, f.of)
	}
	assert.Equal(t, map[string]string{"a": "A", "c": "C", "C": "C", "renamed": "A", "-": "E", "G": "G"}, names)
	var text outer
	require.NoError(t, json.Unmarshal([]byte(`{"a":"1","B":"2","c":"3","C":"4","renamed":"5","-":"6","G":"7"}`), &text))
	assert.Equal(t, outer{inner: inner{A: "1", C: "3"}, Other: Other{C: "4"}, A: "5", E: "6", G: "7"}, text)
}
