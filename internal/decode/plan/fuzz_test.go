package plan

import (
	"reflect"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"
)

// FuzzDecode: whatever the bytes are, what a plan decodes is what generated code does,
// and where that has an error, the plan leaves it alone.
func FuzzDecode(f *testing.F) {
	all := types()
	fill := filler(2)
	for i, of := range all {
		obj := reflect.New(of)
		fill.Fill(obj.Interface())
		data := marshal(f, obj.Interface().(generated))
		f.Add(uint16(i), data, data[:len(data)/2])
	}
	f.Add(uint16(0), []byte{0x0a, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x01}, []byte{0x0b, 0x0c})
	pool := NewPool()
	f.Fuzz(func(t *testing.T, which uint16, data, other []byte) {
		of := all[int(which)%len(all)]
		plan, err := pool.plan(of, nil)
		require.NoError(t, err)
		var like unsafe.Pointer
		for _, data := range [][]byte{other, data, other, data, data} {
			got, ok := decode(pool, plan, data, like)
			if !ok {
				continue
			}
			want := reflect.New(of).Interface().(generated)
			require.NoError(t, want.Unmarshal(data))
			require.Equal(t, want, got)
			like = reflect.ValueOf(got).UnsafePointer()
		}
	})
}

// TestUnusualMessagesAreLeftToGeneratedCode: fields that come twice, groups, and bytes
// that are no message.
func TestUnusualMessagesAreLeftToGeneratedCode(t *testing.T) {
	t.Parallel()
	plan := podPlan(t, NewPool())
	data := marshal(t, pod(1))
	for name, unusual := range map[string][]byte{
		"a message twice":   append(data[:len(data):len(data)], data...),
		"a group":           append(data[:len(data):len(data)], 15<<3|3, 15<<3|4),
		"the field 0":       append(data[:len(data):len(data)], 0, 0),
		"another wire type": append(data[:len(data):len(data)], 1<<3, 1),
		"cut off":           data[:len(data)-1],
		"too long":          {1<<3 | 2, 0xff, 0xff, 0xff, 0xff, 0x0f},
		"an endless length": {1<<3 | 2, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x0f},
	} {
		_, ok := plan.Decode(unusual, nil)
		require.False(t, ok, name)
	}
	got, ok := plan.Decode(append(data[:len(data):len(data)], 0xa2, 0x06, 1, 'x'), nil)
	require.True(t, ok, "a field that is not known")
	require.Equal(t, pod(1).Spec.NodeName, got.Spec.NodeName)
}
