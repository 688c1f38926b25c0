package plan

import (
	"bytes"
	"maps"
	"reflect"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes/scheme"

	"github.com/kubetyped/informer/internal/decode/parts"
	"github.com/kubetyped/informer/internal/test/cached"
)

// reachable adds the types that a value of a type has in it, or refers to.
func reachable(of reflect.Type, known map[reflect.Type]bool) {
	if known[of] {
		return
	}
	known[of] = true
	switch of.Kind() {
	case reflect.Pointer, reflect.Slice, reflect.Array, reflect.Map:
		reachable(of.Elem(), known)
	case reflect.Struct:
		for i := range of.NumField() {
			reachable(of.Field(i).Type, known)
		}
	}
}

// modifies are the names of methods that are there to write.
var modifies = regexp.MustCompile(`^(Reset|Set|Unmarshal|Neg$|Add$|Sub$|Mul$|DeepCopyInto$|RoundUp$|Round$|XXX_)`)

// readers calls a function for each method of a value that reads it: all of those that need
// nothing, or another value of the type.
func readers(value reflect.Value, each func(name string, call func())) {
	pointer := value.Addr()
	for i := range pointer.NumMethod() {
		method, name := pointer.Method(i), pointer.Type().Method(i).Name
		of := method.Type()
		if modifies.MatchString(name) || of.NumIn() > 1 || of.IsVariadic() {
			continue
		}
		var arguments []reflect.Value
		if of.NumIn() == 1 {
			other := reflect.New(value.Type())
			switch of.In(0) {
			case other.Type():
				arguments = append(arguments, other)
			case value.Type():
				arguments = append(arguments, other.Elem())
			default:
				continue
			}
		}
		each(name, func() {
			defer func() { _ = recover() }() // of values that make no sense
			method.Call(arguments)
		})
	}
}

// TestCachingValuesAreNotShared: of all types of the API and of apimachinery, those are known
// whose memory is written to by methods that read them.
func TestCachingValuesAreNotShared(t *testing.T) {
	t.Parallel()
	known := map[reflect.Type]bool{}
	for _, of := range scheme.Scheme.AllKnownTypes() {
		reachable(of, known)
	}
	require.Greater(t, len(known), 1000)
	fill := filler(3).MaxDepth(3).NumElements(0, 1)
	writers := map[string]string{}
	for of := range known {
		if of.PkgPath() == "" || !strings.HasPrefix(of.PkgPath(), "k8s.io/") || of.Size() == 0 || of.Kind() == reflect.Interface {
			continue
		}
		value := reflect.New(of)
		func() {
			defer func() { _ = recover() }() // what has no public fields cannot be filled
			fill.Fill(value.Interface())
		}()
		memory := unsafe.Slice((*byte)(value.UnsafePointer()), of.Size())
		readers(value.Elem(), func(name string, call func()) {
			before := bytes.Clone(memory)
			if call(); !bytes.Equal(before, memory) {
				writers[of.String()] = name
				assert.True(t, Caches(of), "%v is written to by %s", of, name)
			}
		})
	}
	assert.Contains(t, slices.Collect(maps.Keys(writers)), "resource.Quantity")
}

// TestQuantitiesOfAllTypesAreTheirOwn: a read of a quantity can write to it, so no two objects have
// the same one, however they were decoded.
func TestQuantitiesOfAllTypesAreTheirOwn(t *testing.T) {
	t.Parallel()
	fill := filler(4).NilChance(0.2).NumElements(1, 1)
	pool, found := NewPool(), 0
	for _, of := range types() {
		obj := reflect.New(of)
		fill.Fill(obj.Interface())
		has := cached.Quantities(obj.Interface())
		if len(has) == 0 {
			continue
		}
		found++
		data := marshal(t, obj.Interface().(generated))
		plan, err := pool.plan(of, nil)
		require.NoError(t, err)
		owners := map[uintptr]string{}
		var like unsafe.Pointer
		var all []any
		for _, related := range []bool{false, false, false, false, true} { // seen, kept, found
			made := reflect.New(of)
			d := decoder{recent: new(parts.Recent), parts: pool.parts, related: related, trial: true}
			require.True(t, d.message(plan, made.UnsafePointer(), like, data))
			for address, path := range cached.Quantities(made.Interface()) {
				assert.NotContains(t, owners, address, path)
				owners[address] = path
			}
			all = append(all, made.Interface())
			if len(all) >= 3 { // the others are those of the pool
				like = made.UnsafePointer()
			}
		}
		assert.Len(t, owners, len(all)*len(has))
		runtime.KeepAlive(all)
	}
	assert.Greater(t, found, 10)
}

// TestQuantitiesOfOwnStructsAreTheirOwn: it is so for structs of a user's own.
func TestQuantitiesOfOwnStructsAreTheirOwn(t *testing.T) {
	t.Parallel()
	type own struct {
		metav1.ObjectMeta `json:"metadata"`
		Spec              struct {
			Volumes []struct {
				EmptyDir *struct {
					SizeLimit *resource.Quantity `json:"sizeLimit"`
				} `json:"emptyDir"`
			} `json:"volumes"`
			NodeSelector map[string]string `json:"nodeSelector"`
		} `json:"spec"`
	}
	plan, err := From[*own](reflect.TypeFor[corev1.Pod](), NewPool(), nil)
	require.NoError(t, err)
	of := &corev1.Pod{Spec: corev1.PodSpec{NodeSelector: map[string]string{"a": "b"}, Volumes: []corev1.Volume{{
		VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{SizeLimit: new(resource.MustParse("1Gi"))}},
	}}}}
	data := marshal(t, of)
	var all []*own
	for range 4 {
		var like *own
		if len(all) > 0 {
			like = all[len(all)-1]
		}
		made, ok := plan.Decode(data, like)
		require.True(t, ok)
		for _, other := range all {
			assert.NotSame(t, other.Spec.Volumes[0].EmptyDir.SizeLimit, made.Spec.Volumes[0].EmptyDir.SizeLimit)
			assert.Equal(t, address(other.Spec.NodeSelector), address(made.Spec.NodeSelector))
		}
		all = append(all, made)
	}
}
