package plan

import (
	"reflect"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
)

// TestMasksDecodeTheRest: what a plan of some fields decodes is what generated code
// does, without the others; and the same of unstructured objects.
func TestMasksDecodeTheRest(t *testing.T) {
	t.Parallel()
	fill := filler(3)
	for _, test := range []struct {
		mask  func(...string) (*Mask, error)
		paths []string
	}{
		{Only, []string{"metadata.labels", "spec.nodeName", "status.phase"}},
		{Only, []string{"spec.containers.image", "spec.volumes.configMap.name", "status.conditions", "status"}},
		{Without, []string{"metadata.managedFields", "spec.containers.env", "spec.volumes.secret"}},
		{Without, []string{"spec", "status.conditions.message"}},
	} {
		mask, err := test.mask(test.paths...)
		require.NoError(t, err)
		require.NoError(t, mask.Check(reflect.TypeFor[*corev1.Pod]()))
		plan, err := New[*corev1.Pod](reflect.TypeFor[*corev1.Pod](), NewPool(), mask)
		require.NoError(t, err)
		var like *corev1.Pod
		for range 30 {
			pod := &corev1.Pod{}
			fill.Fill(pod)
			data := marshal(t, pod)
			whole, want := &corev1.Pod{}, &corev1.Pod{}
			require.NoError(t, whole.Unmarshal(data))
			require.NoError(t, want.Unmarshal(data))
			mask.Apply(want)
			assert.Equal(t, whole.Name, want.Name)
			assert.Equal(t, whole.DeletionTimestamp, want.DeletionTimestamp)
			for range 3 {
				got, ok := plan.Decode(data, like)
				require.True(t, ok)
				require.Equal(t, want, got)
				like = got
			}
			content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(whole)
			require.NoError(t, err)
			pruned := &unstructured.Unstructured{Object: content}
			mask.Apply(pruned)
			var back corev1.Pod
			require.NoError(t, runtime.DefaultUnstructuredConverter.FromUnstructured(pruned.Object, &back))
			require.True(t, equality.Semantic.DeepEqual(want, &back), "%v\n%v", want, &back)
		}
	}
}

// TestMasksDecodeNamedFieldsWhole: a field that is named as well as a part of it is decoded as a
// whole, and left out as a whole.
func TestMasksDecodeNamedFieldsWhole(t *testing.T) {
	for _, paths := range [][]string{{"status", "status.phase"}, {"status.phase", "status"}} {
		mask, err := Only(paths...)
		require.NoError(t, err)
		assert.True(t, mask.Has("status.podIP"), paths)
		mask, err = Without(paths...)
		require.NoError(t, err)
		assert.False(t, mask.Has("status.podIP"), paths)
	}
}

// TestMasksSkip: what is left out is not allocated.
func TestMasksSkip(t *testing.T) {
	mask, err := Only("metadata.labels", "spec.nodeName")
	require.NoError(t, err)
	plan, err := New[*corev1.Pod](reflect.TypeFor[*corev1.Pod](), NewPool(), mask)
	require.NoError(t, err)
	data := marshal(t, pod(1))
	like, ok := plan.Decode(data, nil)
	require.True(t, ok)
	assert.Equal(t, pod(1).Labels, like.Labels)
	assert.Nil(t, like.Spec.Containers)
	assert.LessOrEqual(t, testing.AllocsPerRun(100, func() { plan.Decode(data, like) }), 1.0)
}

// TestMasksAreChecked: paths that lead nowhere, and fields that objects have to have.
func TestMasksAreChecked(t *testing.T) {
	t.Parallel()
	for path, message := range map[string]string{
		"spec.nodename":         `no field "spec.nodename": the nearest is "spec.nodeName"`,
		"spec.containers.imag":  `no field "spec.containers.imag": the nearest is "spec.containers.image"`,
		"metadata.labels.app":   `no field "metadata.labels.app": a field that is no struct is decoded as a whole`,
		"status.startTime.Time": `no field "status.startTime.Time": a field that is no struct is decoded as a whole`,
		"spec.containers.livenessProbe.httpGet.port.IntVal": `no field "spec.containers.livenessProbe.httpGet.port.IntVal": a field that is no struct is decoded as a whole`,
		"specs": `no field "specs": the nearest is "spec"`,
	} {
		for _, of := range []func(...string) (*Mask, error){Only, Without} {
			mask, err := of(path)
			require.NoError(t, err)
			assert.EqualError(t, mask.Check(reflect.TypeFor[*corev1.Pod]()), message)
			assert.NoError(t, mask.Check(reflect.TypeFor[*unstructured.Unstructured]()))
		}
	}
	_, err := Only()
	assert.EqualError(t, err, "no fields are named")
	_, err = Only("spec..nodeName")
	assert.EqualError(t, err, `the path "spec..nodeName" has an empty name in it; write it like spec.nodeName`)
	for _, path := range []string{"metadata", "metadata.name", "kind", "metadata.name.x"} {
		_, err = Without(path)
		assert.ErrorContains(t, err, "identifies objects", path)
	}
}

type inner struct {
	Inner string `json:"inner"`
	Other *int
}

// Loose is a type that encoding/json takes for a field, though it is embedded.
type Loose any

// Word is another one.
type Word string

// embedding embeds types in unusual ways.
type embedding struct {
	inner
	Loose
	Word
	Odd  string `json:"a→b"`
	Own  inner  `json:"ä"`
	base `json:"base"`
}

// base is embedded by a name.
type base struct {
	Word  *string `json:"word"`
	inner `json:"inner"`
}

// TestMasksOfEmbedded: Apply leaves out what decoding does, of embedded fields and of
// those whose names in tags JSON does not take, too.
func TestMasksOfEmbedded(t *testing.T) {
	t.Parallel()
	one, word := 1, "b"
	whole := func() *embedding {
		return &embedding{inner: inner{"x", &one}, Loose: 1, Word: "w", Odd: "o", Own: inner{"y", &one}, base: base{&word, inner{"z", &one}}}
	}
	for _, test := range []struct {
		path string
		want embedding
	}{
		{"inner", embedding{inner: inner{Inner: "x"}}},
		{"Other", embedding{inner: inner{Other: &one}}},
		{"Loose", embedding{Loose: 1}},
		{"Word", embedding{Word: "w"}},
		{"Odd", embedding{Odd: "o"}},
		{"ä.inner", embedding{Own: inner{Inner: "y"}}},
		{"base.word", embedding{base: base{Word: &word}}},
		{"base.inner.inner", embedding{base: base{inner: inner{Inner: "z"}}}},
	} {
		mask, err := Only(test.path)
		require.NoError(t, err)
		obj := whole()
		mask.Apply(obj)
		assert.Equal(t, &test.want, obj, test.path)
		delete(mask.names, "metadata")
		require.NoError(t, mask.Check(reflect.TypeFor[embedding]()), test.path)
	}
	mask, err := Without("inner", "Loose", "Odd", "base.inner")
	require.NoError(t, err)
	obj := whole()
	mask.Apply(obj)
	assert.Equal(t, &embedding{inner: inner{Other: &one}, Word: "w", Own: inner{"y", &one}, base: base{Word: &word}}, obj)
	mask, err = Without("a→b")
	require.NoError(t, err)
	require.ErrorContains(t, mask.Check(reflect.TypeFor[embedding]()), `no field "a→b"`)
}

// Ring embeds itself, and a struct with a field of the same name.
type Ring struct {
	older
	*Ring
	Spec inner `json:"spec"`
}

type older struct {
	Spec string `json:"spec"`
	Tree tree   `json:"tree"`
}

type tree []tree

// TestMasksOfTypesThatEmbedThemselves: a path is checked with the fields that encoding/json finds.
func TestMasksOfTypesThatEmbedThemselves(t *testing.T) {
	t.Parallel()
	mask, err := Without("spec.inner")
	require.NoError(t, err)
	require.NoError(t, mask.Check(reflect.TypeFor[*Ring]()))
	mask, err = Without("spec.iner")
	require.NoError(t, err)
	require.EqualError(t, mask.Check(reflect.TypeFor[*Ring]()), `no field "spec.iner": the nearest is "spec.inner"`)
	mask, err = Without("tree.inner")
	require.NoError(t, err)
	require.EqualError(t, mask.Check(reflect.TypeFor[*Ring]()), `no field "tree.inner": a field that is no struct is decoded as a whole`)
}
