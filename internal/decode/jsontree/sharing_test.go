package jsontree

import (
	"encoding/json"
	"fmt"
	"reflect"
	"runtime"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubetyped/informer/internal/test/pods"
)

// podText returns the text of a Pod; there are some of each application.
func podText(t testing.TB, i, version int) []byte {
	t.Helper()
	cluster := pods.Cluster{Seed: 1, PerApp: 50, Namespaces: []string{"shop"}, Nodes: 10}
	text, err := json.Marshal(cluster.Pod(i, version))
	require.NoError(t, err)
	return text
}

// at returns the value that a path of keys and indexes leads to.
func at(t testing.TB, value any, path ...any) any {
	t.Helper()
	for _, step := range path {
		switch step := step.(type) {
		case string:
			require.IsType(t, map[string]any{}, value)
			require.Contains(t, value, step)
			value = value.(map[string]any)[step]
		case int:
			require.IsType(t, []any{}, value)
			value = value.([]any)[step]
		}
	}
	return value
}

// shared reports whether a path leads to one value in two objects.
func shared(t testing.TB, a, b any, path ...any) bool {
	t.Helper()
	a, b = at(t, a, path...), at(t, b, path...)
	require.Equal(t, a, b)
	return dataOf(a) == dataOf(b)
}

// TestUpdatesShareUnchangedParts: an object has the parts of the state before it, where
// these have not changed.
func TestUpdatesShareUnchangedParts(t *testing.T) {
	d := New(true, nil)
	before := check(t, d, podText(t, 1, 1), nil)
	text := podText(t, 1, 2)
	after := check(t, d, text, before)
	for _, path := range [][]any{
		{"spec"}, {"metadata", "name"}, {"metadata", "labels"}, {"metadata", "managedFields", 0}, {"metadata", "managedFields", 2, "fieldsV1"},
		{"status", "podIPs"}, {"status", "conditions", 0}, {"status", "conditions", 2, "type"},
	} {
		assert.True(t, shared(t, before, after, path...), path)
	}
	assert.NotEqual(t, at(t, before, "status", "conditions", 2), at(t, after, "status", "conditions", 2))
	assert.NotEqual(t, dataOf(before), dataOf(after), "an object as a whole is its own")

	same := check(t, d, text, after)
	assert.NotEqual(t, dataOf(same), dataOf(after))
	assert.True(t, shared(t, same, after, "metadata"))
	assert.LessOrEqual(t, testing.AllocsPerRun(100, func() { d.Decode(text, after) }), 20.0, "a map, and what it takes when the race detector empties pools")
}

// TestPartsOfAnApplicationAreShared: parts that were met before are found, without
// anything like the object.
func TestPartsOfAnApplicationAreShared(t *testing.T) {
	paths := [][]any{
		{"metadata", "labels"}, {"metadata", "ownerReferences"}, {"metadata", "managedFields", 1, "fieldsV1"},
		{"spec", "tolerations"}, {"spec", "containers", 0, "readinessProbe"}, {"spec", "containers", 0, "resources"},
		{"spec", "containers", 0, "image"}, {"spec", "terminationGracePeriodSeconds"}, {"spec", "priority"},
	}
	missing := map[string]bool{}
	for _, path := range paths {
		missing[fmt.Sprint(path)] = true
	}
	for try := 0; try < 20 && len(missing) > 0; try++ { // one may displace another where they are noted
		d := New(true, nil)
		var all []map[string]any
		for i := range 4 {
			all = append(all, check(t, d, podText(t, i, 1), nil))
		}
		for _, path := range paths {
			if shared(t, all[2], all[3], path...) {
				delete(missing, fmt.Sprint(path))
			}
		}
		assert.False(t, dataOf(at(t, all[2], "metadata")) == dataOf(at(t, all[3], "metadata")))
	}
	assert.Empty(t, missing)
}

// TestModifiedPartsAreNotTaken: a program that modifies an object, against the rule, does not make
// others wrong.
func TestModifiedPartsAreNotTaken(t *testing.T) {
	d := New(true, nil)
	var like map[string]any
	for round := range 4 {
		for i := range 4 {
			text := podText(t, i, 1+round/2)
			got := check(t, d, text, like)
			modify(got)
			got = check(t, d, text, got)
			require.NotNil(t, got)
			modify(got)
			like = got
		}
	}
}

// TestModifiedToLookAlike: what was decoded from the same bytes, and modified so that a
// comparison that is less than exact would take it, is not taken.
func TestModifiedToLookAlike(t *testing.T) {
	for text, modify := range map[string]func(spec map[string]any){
		`{"spec":{"a":-0.0}}`:     func(spec map[string]any) { spec["a"] = 0.0 },
		`{"spec":{"a":1,"a":1}}`:  func(spec map[string]any) { spec["b"] = nil },
		`{"spec":{"a":1}}`:        func(spec map[string]any) { spec["a"] = 1.0 },
		`{"spec":{"a":{"b":[]}}}`: func(spec map[string]any) { spec["a"] = map[string]any{"b": []any(nil)} },
		`{"spec":{"a":["b"]}}`:    func(spec map[string]any) { spec["a"] = append(make([]any, 0, 2), "b") },
		`{"spec":{"a":null}}`:     func(spec map[string]any) { delete(spec, "a"); spec["b"] = nil },
	} {
		d := New(true, nil)
		var all []map[string]any // kept alive, so that it can be found
		for range 6 {
			got := check(t, d, []byte(text), nil)
			modify(got["spec"].(map[string]any))
			all = append(all, got)
		}
		runtime.KeepAlive(all)
	}
}

// modify modifies everything in a value that can be.
func modify(value any) {
	switch value := value.(type) {
	case map[string]any:
		for key, element := range value {
			modify(element)
			if _, isText := element.(string); isText {
				value[key] = "modified"
			}
			if key == "controller" {
				value[key] = 1 // of a type that JSON does not become
			}
		}
		value["more"] = "modified"
	case []any:
		for i, element := range value {
			modify(element)
			if _, isText := element.(string); isText {
				value[i] = "modified"
			}
		}
	}
}

// TestNothingIsSharedUnasked: without sharing, an object can be modified.
func TestNothingIsSharedUnasked(t *testing.T) {
	t.Parallel()
	d := New(false, nil)
	assert.Nil(t, d.table)
	for range 3 {
		one := check(t, d, podText(t, 1, 1), nil)
		other := check(t, d, podText(t, 1, 1), one)
		modify(one)
		want, err := apimachinery(podText(t, 1, 1))
		require.NoError(t, err)
		requireSame(t, want, other)
	}
}

// TestSlicesHaveNoRoom: an element appended to a slice does not appear in objects that share it,
// even if it comes from a decoder that leaves room.
func TestSlicesHaveNoRoom(t *testing.T) {
	t.Parallel()
	d := New(true, nil)
	text := []byte(`{"spec":{"args":["a","b","c","d","e"],"none":[]}}`)
	like, err := apimachinery(text)
	require.NoError(t, err)
	require.Greater(t, cap(at(t, like, "spec", "args").([]any)), 5)
	for range 4 {
		like = check(t, d, text, like)
		assert.Equal(t, 5, cap(at(t, like, "spec", "args").([]any)))
		assert.Zero(t, cap(at(t, like, "spec", "none").([]any)))
	}
}

// TestKeepsNothingAlive: a decoder releases values that no object has.
func TestKeepsNothingAlive(t *testing.T) {
	d := New(true, nil)
	gone := make(chan struct{})
	func() {
		var last map[string]any
		for i := range 4 {
			last = check(t, d, podText(t, i, 1), nil)
		}
		require.NotZero(t, d.table.Usage().Parts)
		tolerations := at(t, last, "spec", "tolerations").([]any)
		runtime.AddCleanup(&tolerations[0], func(done chan struct{}) { close(done) }, gone)
	}()
	for {
		runtime.GC()
		select {
		case <-gone:
			require.NotNil(t, check(t, d, podText(t, 9, 1), nil))
			return
		default:
			runtime.Gosched()
		}
	}
}

// TestDecodesAtOnce: several goroutines may decode at once, with deduplication.
func TestDecodesAtOnce(t *testing.T) {
	t.Parallel()
	d := New(true, nil)
	var texts [][]byte
	var wanted []map[string]any
	for i := range 7 {
		text := podText(t, i, 1)
		want, err := apimachinery(text)
		require.NoError(t, err)
		texts, wanted = append(texts, text), append(wanted, want)
	}
	var decoding sync.WaitGroup
	for range 4 {
		decoding.Go(func() {
			var like map[string]any
			for i := range 200 {
				got, ok := d.Decode(texts[i%7], like)
				if !assert.True(t, ok) || !assert.True(t, reflect.DeepEqual(wanted[i%7], got)) {
					return
				}
				if like = got; i%3 == 0 {
					like = nil
				}
			}
		})
	}
	decoding.Wait()
}
