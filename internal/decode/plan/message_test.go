package plan

import (
	"reflect"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
)

// TestPlansAreSmall: a field takes a cache line, and the fields of all messages of an object lie next
// to each other. A later plan has the same messages.
func TestPlansAreSmall(t *testing.T) {
	assert.LessOrEqual(t, unsafe.Sizeof(field{}), uintptr(64))
	pool := NewPool()
	pods, err := New[*corev1.Pod](reflect.TypeFor[*corev1.Pod](), pool, nil)
	require.NoError(t, err)
	var all []*message
	seen := map[*message]bool{}
	var walk func(*message)
	walk = func(m *message) {
		if m == nil || seen[m] {
			return
		}
		seen[m] = true
		all = append(all, m)
		for i := range m.fields {
			walk(m.fields[i].message)
		}
	}
	walk(pods.root)
	require.Greater(t, len(all), 50)
	for i, m := range all[1:] {
		before := all[i]
		assert.Equal(t, unsafe.Pointer(unsafe.SliceData(m.fields)), unsafe.Add(unsafe.Pointer(unsafe.SliceData(before.fields)), uintptr(len(before.fields))*unsafe.Sizeof(field{})), m.of)
		assert.Equal(t, len(m.known), len(m.memory), m.of)
		for ordinal, number := range m.known {
			assert.Equal(t, m.fields[number].Memory, m.memory[ordinal], m.of)
		}
	}
	templates, err := New[*corev1.PodTemplate](reflect.TypeFor[*corev1.PodTemplate](), pool, nil)
	require.NoError(t, err)
	for i := range templates.root.fields {
		for j := range pods.root.fields {
			if m := templates.root.fields[i].message; m != nil && m == pods.root.fields[j].message {
				assert.True(t, seen[m])
				return
			}
		}
	}
	t.Error("the plans have no message in common, not even ObjectMeta")
}
