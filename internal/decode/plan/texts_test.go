package plan

import (
	"fmt"
	"reflect"
	"runtime"
	"strings"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubetyped/informer/internal/decode/parts"
)

// writable adds the addresses of what a program can write to by way of a value, and how they are
// reached.
func writable(value reflect.Value, path string, to map[uintptr]string) {
	switch value.Kind() {
	case reflect.Pointer:
		if !value.IsNil() {
			addWritable(value.Pointer(), value.Elem().Type(), path, to)
			writable(value.Elem(), path, to)
		}
	case reflect.Slice:
		if value.Cap() > 0 {
			addWritable(value.Pointer(), value.Type().Elem(), path, to)
		}
		for i := range value.Len() {
			writable(value.Index(i), fmt.Sprintf("%s[%d]", path, i), to)
		}
	case reflect.Map:
		if !value.IsNil() {
			to[value.Pointer()] = path
		}
		for _, key := range value.MapKeys() {
			writable(value.MapIndex(key), path+"."+key.String(), to)
		}
	case reflect.Struct:
		for i := range value.NumField() {
			if f := value.Type().Field(i); f.IsExported() {
				writable(value.Field(i), path+"."+f.Name, to)
			}
		}
	}
}

func addWritable(address uintptr, of reflect.Type, path string, to map[uintptr]string) {
	if of.Size() > 0 {
		to[address] = path
	}
}

// TestOthersShareNoMemoryToWriteTo: two objects of any type that are decoded without
// deduplication, from the same bytes, are apart: a write to one changes nothing of the other.
func TestOthersShareNoMemoryToWriteTo(t *testing.T) {
	t.Parallel()
	fill, pool, found := filler(5).NilChance(0.2).NumElements(1, 1), &Pool{}, 0
	for _, of := range types() {
		m, err := pool.plan(of, nil)
		require.NoError(t, err)
		obj := reflect.New(of)
		fill.Fill(obj.Interface())
		data := marshal(t, obj.Interface().(generated))
		first := map[uintptr]string{}
		one, ok := decode(pool, m, data, nil)
		require.True(t, ok)
		writable(reflect.ValueOf(one), of.String(), first)
		found += len(first)
		for range 2 {
			second := map[uintptr]string{}
			other, ok := decode(pool, m, data, nil)
			require.True(t, ok)
			writable(reflect.ValueOf(other), of.String(), second)
			for address, path := range second {
				if where, both := first[address]; both {
					t.Errorf("%s of one object is %s of another one", where, path)
				}
			}
			runtime.KeepAlive(one)
			runtime.KeepAlive(other)
		}
	}
	assert.Greater(t, found, 1000)
}

// TestRecentTextsAreOne: without deduplication, objects that come after each other share equal
// texts, up to a length.
func TestRecentTextsAreOne(t *testing.T) {
	plan := podPlan(t, nil)
	long := strings.Repeat("x", parts.LongestRecent+1)
	of := func(i int) (names [3]*byte) {
		p := pod(i)
		p.Labels["long"], p.Labels["limit"] = long, long[1:]
		made := decodePod(t, plan, p, nil)
		for at, text := range []string{made.Spec.Containers[0].Image, made.Labels["limit"], made.Labels["long"]} {
			names[at] = unsafe.StringData(text)
		}
		return names
	}
	for range 100 { // the collector may take what is remembered
		if one, other := of(1), of(2); one[0] == other[0] && one[1] == other[1] {
			assert.NotSame(t, one[2], other[2], "too long to keep it")
			return
		}
	}
	t.Error("the same text comes twice")
}
