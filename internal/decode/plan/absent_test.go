package plan

import (
	"encoding/binary"
	"reflect"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

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

// ephemeralInfo maps a field that is always present.
type ephemeralInfo struct {
	Name  *string `json:"name"`
	Image *string `json:"image"`
}

// TestOtherStatesAreNotTaken: a field of an earlier state that the object lacks is absent, and
// values that a program has modified, against the rule, are not used.
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

// TestCustomZero: a type that says itself what omitzero leaves out, such as
// a quantity, is not known.
func TestCustomZero(t *testing.T) {
	t.Parallel()
	f := field{kind: kindOpaque}
	quantity := jsonField{of: reflect.TypeFor[resource.Quantity](), omitZero: true}
	assert.ErrorContains(t, f.whenAbsent(quantity, false, reflect.ValueOf(resource.Quantity{})), "custom rule to omit the field")
	created := jsonField{of: reflect.TypeFor[metav1.Time](), omitZero: true}
	assert.NoError(t, f.whenAbsent(created, false, reflect.ValueOf(metav1.Time{})))
}
