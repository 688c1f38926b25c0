package deepcopy_test

import (
	"math/rand"
	"net/netip"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/apitesting/fuzzer"
	"k8s.io/apimachinery/pkg/api/resource"
	metafuzzer "k8s.io/apimachinery/pkg/apis/meta/fuzzer"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/client-go/kubernetes/scheme"

	"github.com/kubetyped/informer/internal/deepcopy"
)

func everything(string) bool { return true }

// checkCopy checks that a copy is equal and shares nothing.
func checkCopy[T any](t *testing.T, obj T) T {
	t.Helper()
	copied := deepcopy.Copy(obj)
	assert.Equal(t, obj, copied)
	path, shared := deepcopy.Shared(obj, copied, everything)
	assert.False(t, shared, "it shares %q", path)
	return copied
}

// Tags is one of own's parts, with the tags that are inlined.
type Tags struct{ Tags map[string][]string }

// own is a struct without generated code, which has all that a struct can have.
type own struct {
	metav1.ObjectMeta `json:"metadata"`
	Tags
	*Inner

	Pods      []corev1.PodSpec
	Limits    map[string]resource.Quantity
	Pointer   **int
	Array     [2][]byte
	Any       []any
	ByAddress map[netip.Addr]*own
	Since     time.Time
	Next      *own
	Empty     []string
	Func      func()
	Shapes    shapes
	Raw       runtime.RawExtension
	private   []string
}

type Inner struct{ Labels map[string]string }

// shapes are a type that has itself.
type shapes []struct{ Within shapes }

func newOwn() *own {
	n := 7
	p := &n
	return &own{
		ObjectMeta: metav1.ObjectMeta{Name: "a", Labels: map[string]string{"a": "b"}, OwnerReferences: []metav1.OwnerReference{{Controller: new(bool)}}},
		Tags:       Tags{map[string][]string{"a": {"b"}, "nil": nil}},
		Inner:      &Inner{map[string]string{"a": "b"}},
		Pods:       []corev1.PodSpec{{NodeSelector: map[string]string{"a": "b"}}},
		Limits:     map[string]resource.Quantity{"cpu": resource.MustParse("1.00000000000000000000001")},
		Pointer:    &p,
		Array:      [2][]byte{{1}, nil},
		Any:        []any{map[string]any{"a": []any{"b", int64(1), nil}}, &Inner{map[string]string{"a": "b"}}, Inner{map[string]string{}}},
		ByAddress:  map[netip.Addr]*own{netip.MustParseAddr("fd00::1%eth0"): {Empty: []string{"x"}}},
		Since:      time.Now(),
		Next:       &own{Next: &own{}},
		Empty:      []string{},
		Shapes:     shapes{{shapes{{}}}},
		Raw:        runtime.RawExtension{Raw: []byte("{}"), Object: &corev1.Pod{}},
		private:    []string{"kept"},
	}
}

func TestCopyOfAStructOfOnesOwn(t *testing.T) {
	obj := newOwn()
	copied := checkCopy(t, obj)
	assert.NotNil(t, copied.Empty)
	copied.Tags.Tags["a"][0], copied.Inner.Labels["a"], **copied.Pointer, copied.Array[0][0] = "c", "c", 8, 8
	copied.Pods[0].NodeSelector["a"], copied.Any[0].(map[string]any)["a"].([]any)[0] = "c", "c"
	copied.ByAddress[netip.MustParseAddr("fd00::1%eth0")].Empty[0] = "y"
	*copied.OwnerReferences[0].Controller = true
	want := newOwn()
	want.Since = obj.Since
	assert.Equal(t, want, obj)
	assert.Same(t, &obj.private[0], &copied.private[0], "as by an assignment")
}

func TestCopyOfOtherKinds(t *testing.T) {
	var none *own
	assert.Nil(t, deepcopy.Copy(none))
	assert.Nil(t, deepcopy.Copy[metav1.Object](nil))
	assert.Equal(t, 7, deepcopy.Copy(7))
	checkCopy(t, map[string]*own{"a": newOwn()})
	checkCopy[any](t, []string{"a"})
	checkCopy[metav1.Object](t, newOwn())
	checkCopy(t, &unstructured.Unstructured{Object: map[string]any{"a": []any{"b"}}})
	promoted := checkCopy(t, &struct {
		corev1.Pod
		Extra []string
	}{corev1.Pod{Spec: corev1.PodSpec{NodeName: "a"}}, []string{"b"}})
	assert.Equal(t, "b", promoted.Extra[0], "the method of the Pod copies the Pod alone")
}

// loner declares its own method, which marks its results.
type loner struct{ by string }

func (l loner) DeepCopy() loner { return loner{"its method"} }

type loners struct {
	One     loner
	Pointer *into
	Object  *object
	None    *object
}

type into struct{ by string }

func (i *into) DeepCopyInto(to *into) { to.by = "its method" }

type object struct {
	metav1.TypeMeta
	by string
}

func (o *object) DeepCopyObject() runtime.Object { return &object{by: "its method"} }

func TestCopyByMethods(t *testing.T) {
	copied := deepcopy.Copy(&loners{Pointer: &into{}, Object: &object{}})
	assert.Equal(t, &loners{loner{"its method"}, &into{"its method"}, &object{by: "its method"}, nil}, copied)
}

// TestCopyOfACycle: a copy of what refers to itself refers to itself.
func TestCopyOfACycle(t *testing.T) {
	one := &own{}
	one.Next = one
	one.Any = []any{one}
	copied := deepcopy.Copy(one)
	at := copied
	for range 1000 {
		assert.NotSame(t, one, at)
		at = at.Next
	}
	assert.Same(t, at, at.Next)
	loop := map[string]any{}
	loop["a"] = loop
	assert.Len(t, deepcopy.Copy(loop), 1)
}

// TestCopyOfOneValueTwice: two references to one value become references to two copies.
func TestCopyOfOneValueTwice(t *testing.T) {
	one := &Inner{map[string]string{"a": "b"}}
	copied := checkCopy(t, &struct{ First, Second *Inner }{one, one})
	assert.NotSame(t, copied.First, copied.Second)
	copied.First.Labels["a"] = "c"
	assert.Equal(t, "b", copied.Second.Labels["a"])
}

// TestCopyOfRoom: a slice without elements shares no room with its copy.
func TestCopyOfRoom(t *testing.T) {
	obj := &own{Empty: make([]string, 0, 1)}
	copied := checkCopy(t, obj)
	appended := append(copied.Empty, "copy")
	obj.Empty = append(obj.Empty, "original")
	assert.Equal(t, []string{"copy"}, appended)
}

// TestCopyOfAllTypes copies fields of all types of client-go's scheme, which are others than
// those with methods at random, and compares that with their methods.
func TestCopyOfAllTypes(t *testing.T) {
	filler := fuzzer.FuzzerFor(metafuzzer.Funcs, rand.NewSource(1), serializer.NewCodecFactory(scheme.Scheme)).NilChance(0.3).NumElements(0, 3)
	for kind := range scheme.Scheme.AllKnownTypes() {
		obj, err := scheme.Scheme.New(kind)
		assert.NoError(t, err)
		filler.Fill(obj)
		checkCopy(t, obj)
		checkCopy(t, &struct{ Object runtime.Object }{obj})
		assert.Equal(t, obj, deepcopy.ByFields(obj), kind)
	}
}

func TestShared(t *testing.T) {
	obj := newOwn()
	for name, test := range map[string]struct {
		share func(updated *own)
		path  string
	}{
		"a map":                     {func(updated *own) { updated.ObjectMeta.Labels = obj.ObjectMeta.Labels }, "ObjectMeta.Labels"},
		"of an embedded struct":     {func(updated *own) { updated.Tags.Tags["new"] = obj.Tags.Tags["a"] }, "Tags.new"},
		"of an embedded pointer":    {func(updated *own) { updated.Inner.Labels = obj.Inner.Labels }, "Labels"},
		"an element":                {func(updated *own) { updated.Pods[0].NodeSelector = obj.Pods[0].NodeSelector }, "Pods.NodeSelector"},
		"behind another field":      {func(updated *own) { updated.Next.Empty = obj.ByAddress[netip.MustParseAddr("fd00::1%eth0")].Empty }, "Next.Empty"},
		"a part of a slice":         {func(updated *own) { updated.Pods = obj.Pods[:1] }, "Pods"},
		"an element by its pointer": {func(updated *own) { updated.Any[1] = &obj.Pods[0] }, "Any"},
		"in an interface":           {func(updated *own) { updated.Raw.Object = obj.Raw.Object }, "Raw.Object"},
		"nothing that is wanted":    {func(updated *own) { updated.Limits = obj.Limits; updated.private = obj.private }, ""},
		"what is empty":             {func(updated *own) { updated.Empty = obj.Empty }, ""},
	} {
		updated := deepcopy.Copy(obj)
		test.share(updated)
		path, shared := deepcopy.Shared(obj, updated, func(name string) bool { return name != "Limits" })
		assert.Equal(t, test.path, path, name)
		assert.Equal(t, test.path != "", shared, name)
	}
	path, shared := deepcopy.Shared(obj, obj, everything)
	assert.Empty(t, path)
	assert.True(t, shared, "all of it")
}

// TestSharedBehindAPart: memory counts to its end, even if a part of it is referred to as well.
func TestSharedBehindAPart(t *testing.T) {
	type numbers struct {
		All []int
		One *int
	}
	all := []int{1, 2, 3}
	path, shared := deepcopy.Shared(numbers{all, &all[1]}, numbers{One: &all[2]}, everything)
	assert.True(t, shared)
	assert.Equal(t, "One", path)
}

func BenchmarkCopy(b *testing.B) {
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "a", Labels: map[string]string{"a": "b"}}}
	obj := newOwn()
	b.Run("generated", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			deepcopy.Copy(pod)
		}
	})
	b.Run("fields", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			deepcopy.Copy(obj)
		}
	})
}
