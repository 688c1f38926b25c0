package kept

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"pgregory.net/rapid"

	"github.com/kubetyped/informer/internal/heapsize"
)

func decodeConfigMap(bytes []byte, _ Whole) (Whole, error) {
	obj := &corev1.ConfigMap{}
	return obj, json.Unmarshal(bytes, obj)
}

func decodeUnstructured(bytes []byte, _ Whole) (Whole, error) {
	obj := &unstructured.Unstructured{}
	return obj, json.Unmarshal(bytes, &obj.Object)
}

// emptyRing makes the next read of each object decode it.
func emptyRing() {
	large, of := &decoded{size: budget + 1}, &Object{}
	of.last.Store(large)
	recent.add(of, large)
}

// checkRing fails unless the ring is within its budget, and each object in it is that of an entry.
func checkRing(t require.TestingT, objects map[string]*Object) {
	recent.mu.Lock()
	defer recent.mu.Unlock()
	bytes, in := int64(0), map[*decoded]bool{}
	for i, e := range recent.all {
		if i < recent.first {
			require.Zero(t, e, "a dropped entry is given back")
			continue
		}
		bytes += e.what.size
		in[e.what] = true
		require.Same(t, e.what, e.of.last.Load(), "what an entry is of refers to it until it is dropped")
	}
	require.Equal(t, bytes, recent.bytes)
	require.True(t, bytes <= budget || len(in) == 1, "%d bytes of %d objects", bytes, len(in))
	require.LessOrEqual(t, recent.first, len(recent.all)/2)
	for name, o := range objects {
		if d := o.last.Load(); d != nil {
			require.True(t, in[d], "%s is in no entry", name)
		}
	}
}

// want is what an object was made of.
type want struct {
	*corev1.ConfigMap
	modified string // what was done to it by mistake, since it was decoded last
}

// keptModel is objects that are kept as bytes, and the originals.
type keptModel struct {
	form    *Form
	objects map[string]*Object
	want    map[string]*want
	version int
}

func (m *keptModel) drawName(t *rapid.T) string {
	return rapid.SampledFrom([]string{"app-1", "app-2", "app-3", "other-1", "alone"}).Draw(t, "name")
}

// keep makes another state of an object, with as much text as is drawn.
func (m *keptModel) keep(t *rapid.T) {
	name := m.drawName(t)
	m.version++
	obj := &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: name, ResourceVersion: fmt.Sprint(m.version)},
		Data:       map[string]string{"text": strings.Repeat(rapid.SampledFrom([]string{"abc", "much of the same text. "}).Draw(t, "piece"), rapid.SampledFrom([]int{0, 1, 10, 1000, 15_000}).Draw(t, "times"))},
	}
	if of := rapid.MapOf(rapid.String(), rapid.String()).Draw(t, "labels"); len(of) > 0 {
		obj.Labels = of
	}
	text, err := json.Marshal(obj)
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(text, &corev1.ConfigMap{}))
	event := rapid.Bool().Draw(t, "event")
	sent := &corev1.ConfigMap{}
	require.NoError(t, json.Unmarshal(text, sent))
	before := m.objects[name]
	if rapid.IntRange(0, 3).Draw(t, "unknown") == 0 {
		before = nil
	}
	m.objects[name] = m.form.Keep(sent, text, event, before)
	clear(text) // it is the reader's
	obj.Kind = map[bool]string{true: "Event", false: "Item"}[event]
	m.want[name] = &want{ConfigMap: obj}
}

// TestKeptModel: whatever objects come, are read in whichever way, and are modified by mistake,
// each is what it was made of, its modification is gone when it was decoded again, and the ring
// keeps to its budget.
func TestKeptModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		emptyRing()
		kind := func(name string) func(Whole) {
			return func(obj Whole) { obj.(*corev1.ConfigMap).Kind = name }
		}
		m := &keptModel{
			form:    NewForm(decodeConfigMap, Stamps{Event: kind("Event"), Item: kind("Item")}),
			objects: map[string]*Object{}, want: map[string]*want{},
		}
		read := func(t *rapid.T, by func(*Object) (Whole, error), own bool) {
			name := m.drawName(t)
			o, ok := m.objects[name]
			if !ok {
				return
			}
			_, recent := o.Recent()
			got, err := by(o)
			require.NoError(t, err)
			w := m.want[name]
			text := w.modified
			if own || !recent {
				text = ""
			}
			require.Equal(t, text, got.GetGenerateName())
			if !recent {
				w.modified = ""
			}
			expected := w.DeepCopy()
			expected.GenerateName = text
			require.Equal(t, expected, got)
			if own {
				got.SetName("the caller's")
			} else if _, in := o.Recent(); in && rapid.Bool().Draw(t, "modify") {
				got.SetGenerateName("by mistake")
				w.modified = "by mistake"
			}
		}
		t.Repeat(map[string]func(*rapid.T){
			"keep":   m.keep,
			"decode": func(t *rapid.T) { read(t, (*Object).Decode, true) },
			"whole":  func(t *rapid.T) { read(t, (*Object).Whole, false) },
			"peek":   func(t *rapid.T) { read(t, (*Object).Peek, false) },
			"delete": func(t *rapid.T) {
				name := m.drawName(t)
				delete(m.objects, name)
				delete(m.want, name)
			},
			"empty": func(*rapid.T) { emptyRing() },
			"": func(t *rapid.T) {
				checkRing(t, m.objects)
				for name, o := range m.objects {
					w := m.want[name]
					require.Equal(t, "shop/"+name, o.GetNamespace()+"/"+o.GetName())
					require.Equal(t, w.ResourceVersion, o.GetResourceVersion())
					for key, value := range w.Labels {
						require.Equal(t, value, o.KeptLabels().Get(key))
					}
				}
			},
		})
	})
}

// TestOneObjectInTheRing: reads of several goroutines at once get the same object, and there is one
// entry of it. It is also for the race detector.
func TestOneObjectInTheRing(t *testing.T) {
	form := NewForm(decodeConfigMap, Stamps{})
	text := []byte(`{"metadata":{"namespace":"shop","name":"a"},"data":{"k":"v"}}`)
	whole, err := decodeConfigMap(text, nil)
	require.NoError(t, err)
	o := form.Keep(whole, text, true, nil)
	again, err := o.Whole()
	require.NoError(t, err)
	assert.Same(t, whole, again, "the one that has come")
	for range 20 {
		emptyRing()
		got := make([]Whole, 8)
		var wg sync.WaitGroup
		for i := range got {
			wg.Go(func() { got[i], _ = o.Whole() })
		}
		wg.Wait()
		for _, other := range got {
			require.Same(t, got[0], other)
		}
		checkRing(t, map[string]*Object{"a": o})
	}
}

// TestReadsOfAllStayOutOfTheRing: Peek and Decode do not drop what was read last.
func TestReadsOfAllStayOutOfTheRing(t *testing.T) {
	form := NewForm(decodeConfigMap, Stamps{})
	text := []byte(`{"metadata":{"namespace":"shop","name":"a"}}`)
	o := form.Keep(&corev1.ConfigMap{}, text, true, nil)
	emptyRing()
	for _, read := range []func(*Object) (Whole, error){(*Object).Peek, (*Object).Decode} {
		one, err := read(o)
		require.NoError(t, err)
		two, err := read(o)
		require.NoError(t, err)
		assert.NotSame(t, one, two)
		_, in := o.Recent()
		assert.False(t, in)
	}
}

// TestDamaged: an error has the key and its cause; getters of fields that only the bytes have return
// nothing, and Report calls once.
func TestDamaged(t *testing.T) {
	damaged := errors.New("damaged")
	form := NewForm(func([]byte, Whole) (Whole, error) { return nil, damaged }, Stamps{})
	for key, obj := range map[string]*corev1.ConfigMap{
		"shop/a": {ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "a", Labels: map[string]string{"app": "b"}, UID: "u"}},
		"a":      {ObjectMeta: metav1.ObjectMeta{Name: "a", Labels: map[string]string{"app": "b"}, UID: "u"}},
	} {
		o := form.Keep(obj, []byte("{}"), true, nil)
		emptyRing()
		for _, read := range []func(*Object) (Whole, error){(*Object).Whole, (*Object).Peek, (*Object).Decode} {
			got, err := read(o)
			assert.Nil(t, got)
			assert.ErrorIs(t, err, damaged)
			assert.EqualError(t, err, "decode "+key+", which is kept as bytes: damaged")
		}
		assert.Equal(t, "a", o.GetName())
		assert.Empty(t, o.GetUID())
		assert.Empty(t, o.GetObjectKind().GroupVersionKind())
		assert.Equal(t, "b", o.KeptLabels().Get("app"))
		calls := 0
		o.Report(func() { calls++ })
		o.Report(func() { calls++ })
		assert.Equal(t, 1, calls)
	}
}

// TestMetadata: all getters have what the object has, and the setters change nothing.
func TestMetadata(t *testing.T) {
	seconds := int64(5)
	now := metav1.Unix(1_700_000_000, 0)
	want := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{
		Namespace: "shop", Name: "a", GenerateName: "g", UID: "u", ResourceVersion: "7", Generation: 3,
		CreationTimestamp: now, DeletionTimestamp: &now, DeletionGracePeriodSeconds: &seconds,
		Labels: map[string]string{"l": "v"}, Annotations: map[string]string{"n": "v"}, Finalizers: []string{"f"},
		OwnerReferences: []metav1.OwnerReference{{Name: "o"}}, ManagedFields: []metav1.ManagedFieldsEntry{{Manager: "m"}},
	}}
	want.SetSelfLink("s")
	text, err := json.Marshal(want)
	require.NoError(t, err)
	o := NewForm(decodeConfigMap, Stamps{}).Keep(want.DeepCopy(), text, true, nil)
	copyOf := func(from, to metav1.Object) {
		to.SetNamespace(from.GetNamespace())
		to.SetName(from.GetName())
		to.SetGenerateName(from.GetGenerateName())
		to.SetUID(from.GetUID())
		to.SetResourceVersion(from.GetResourceVersion())
		to.SetGeneration(from.GetGeneration())
		to.SetSelfLink(from.GetSelfLink())
		to.SetCreationTimestamp(from.GetCreationTimestamp())
		to.SetDeletionTimestamp(from.GetDeletionTimestamp())
		to.SetDeletionGracePeriodSeconds(from.GetDeletionGracePeriodSeconds())
		to.SetLabels(from.GetLabels())
		to.SetAnnotations(from.GetAnnotations())
		to.SetFinalizers(from.GetFinalizers())
		to.SetOwnerReferences(from.GetOwnerReferences())
		to.SetManagedFields(from.GetManagedFields())
	}
	copyOf(&corev1.ConfigMap{}, o)
	for range 2 {
		got := &corev1.ConfigMap{}
		copyOf(o, got)
		assert.Equal(t, want, got)
		emptyRing()
	}
	assert.Same(t, o, o.DeepCopyObject())
}

// TestItemsWithoutAKind have that of their list, those that have one keep it.
func TestItemsWithoutAKind(t *testing.T) {
	form := NewForm(decodeUnstructured, Stamps{})
	keep := func(text string) *Object {
		whole, err := decodeUnstructured([]byte(text), nil)
		require.NoError(t, err)
		o := form.Keep(whole, []byte(text), false, nil)
		o.NameKind("v1", "ConfigMap")
		return o
	}
	for text, want := range map[string]string{
		`{"metadata":{"name":"a"}}`:                                      "/v1, Kind=ConfigMap",
		`{"apiVersion":"x/v2","kind":"Other","metadata":{"name":"b"}}`:   "x/v2, Kind=Other",
		`{"apiVersion":"x/v2","kind":"Another","metadata":{"name":"c"}}`: "x/v2, Kind=Another",
	} {
		o := keep(text)
		assert.Equal(t, want, o.GetObjectKind().GroupVersionKind().String(), "as it came")
		emptyRing()
		assert.Equal(t, want, o.GetObjectKind().GroupVersionKind().String(), "decoded again")
	}
	text := []byte(`{"metadata":{"name":"d"}}`)
	whole, err := decodeUnstructured(text, nil)
	require.NoError(t, err)
	assert.Empty(t, form.Keep(whole, text, true, nil).GetObjectKind().GroupVersionKind(), "events have their own")
}

// TestLabelsOfAnyBytes: a selector judges kept labels as it judges the map, whatever is in them.
func TestLabelsOfAnyBytes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		piece := rapid.OneOf(rapid.StringOf(rapid.SampledFrom([]rune{'a', 'b', 0, 1})), rapid.StringN(0, 300, -1))
		set := labels.Set(rapid.MapOf(piece, piece).Draw(t, "labels"))
		of := labelsOf(set)
		require.Equal(t, of, labelsOf(set), "one value")
		for _, key := range append(rapid.SliceOf(piece).Draw(t, "keys"), "a", "") {
			checkLabel(t, set, of, key)
		}
		for key := range set {
			checkLabel(t, set, of, key)
		}
	})
}

func checkLabel(t require.TestingT, set labels.Set, of Labels, key string) {
	value, exists := set[key]
	got, has := of.Lookup(key)
	require.Equal(t, exists, has, "%q in %q", key, set)
	require.Equal(t, value, got)
	require.Equal(t, exists, of.Has(key))
	require.Equal(t, value, of.Get(key))
}

// FuzzKeep: an object's bytes are those that it was made of, after another state of the object, and
// with another one of like name.
func FuzzKeep(f *testing.F) {
	f.Add([]byte("some text that is much longer than a window"), []byte("some text that is as much longer"), "app-1", "shop")
	f.Add([]byte{}, []byte{0}, "", "")
	f.Fuzz(func(t *testing.T, first, second []byte, name, namespace string) {
		form := NewForm(func(bytes []byte, _ Whole) (Whole, error) {
			return &corev1.ConfigMap{BinaryData: map[string][]byte{"": append([]byte{}, bytes...)}}, nil
		}, Stamps{})
		obj := func() *corev1.ConfigMap {
			return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}}
		}
		before := form.Keep(obj(), first, true, nil)
		after := form.Keep(obj(), second, true, before)
		sibling := form.Keep(obj(), second, false, nil)
		for o, want := range map[*Object][]byte{before: first, after: second, sibling: second} {
			whole, err := o.Decode()
			require.NoError(t, err)
			require.Equal(t, string(want), string(whole.(*corev1.ConfigMap).BinaryData[""]))
			require.Equal(t, name, o.GetName())
		}
	})
}

// TestBefore: an old object is decoded with its next state at hand, unless it is in the ring, where
// it takes less room than a whole one.
func TestBefore(t *testing.T) {
	var likes []Whole
	form := NewForm(func(bytes []byte, like Whole) (Whole, error) {
		likes = append(likes, like)
		return decodeConfigMap(bytes, nil)
	}, Stamps{})
	text := []byte(`{"metadata":{"namespace":"shop","name":"a"},"data":{"k":"` + strings.Repeat("v", 4000) + `"}}`)
	came, err := decodeConfigMap(text, nil)
	require.NoError(t, err)
	old := form.Keep(came, text, true, nil)
	later := &corev1.ConfigMap{}
	got, err := old.Before(later)
	require.NoError(t, err)
	assert.Same(t, came, got, "it is in the ring")
	emptyRing()
	got, err = old.Before(later)
	require.NoError(t, err)
	assert.Equal(t, came, got)
	alone := old.last.Load().size
	emptyRing()
	_, err = old.Whole()
	require.NoError(t, err)
	assert.Equal(t, []Whole{later, nil}, likes)
	assert.Less(t, alone, old.last.Load().size/2)
	var sum heapsize.PackedSum
	assert.True(t, sum.AddPacked(old))
	assert.EqualValues(t, 2, sum.Decoded)
	assert.False(t, sum.AddPacked(later))
}
