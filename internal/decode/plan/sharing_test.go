package plan

import (
	"fmt"
	"reflect"
	"runtime"
	"sync"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// pod returns Pod i of an application.
func pod(i int) *corev1.Pod {
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Name: fmt.Sprintf("shop-%d", i), Namespace: "default", ResourceVersion: fmt.Sprint(1000 + i),
			Labels:          map[string]string{"app": "shop", "tier": "web"},
			Annotations:     map[string]string{"cni/address": fmt.Sprintf("10.0.0.%d", i), "owner": "team-shop"},
			OwnerReferences: []metav1.OwnerReference{{Kind: "ReplicaSet", Name: "shop", Controller: new(true)}},
		},
		Spec: corev1.PodSpec{
			NodeName:    fmt.Sprintf("node-%d", i),
			Tolerations: []corev1.Toleration{{Key: "spot", TolerationSeconds: new(int64(300))}},
			Containers: []corev1.Container{{
				Name: "server", Image: "registry/shop:1.0", Args: []string{"-v", "serve"},
				Resources:       corev1.ResourceRequirements{Limits: corev1.ResourceList{"cpu": resource.MustParse("250m")}},
				LivenessProbe:   &corev1.Probe{PeriodSeconds: 10, ProbeHandler: corev1.ProbeHandler{Exec: &corev1.ExecAction{Command: []string{"true"}}}},
				VolumeMounts:    []corev1.VolumeMount{{Name: "config"}, {Name: fmt.Sprintf("kube-api-access-%d", i)}},
				SecurityContext: &corev1.SecurityContext{RunAsNonRoot: new(true)},
			}},
		},
	}
}

func marshal(t testing.TB, obj generated) []byte {
	t.Helper()
	data, err := obj.Marshal()
	require.NoError(t, err)
	return data
}

func podPlan(t testing.TB, pool *Pool) *Plan[*corev1.Pod] {
	t.Helper()
	plan, err := New[*corev1.Pod](reflect.TypeFor[*corev1.Pod](), pool, nil)
	require.NoError(t, err)
	return plan
}

// decodePod decodes a Pod, and fails if that is not what it was.
func decodePod(t testing.TB, plan *Plan[*corev1.Pod], of, like *corev1.Pod) *corev1.Pod {
	t.Helper()
	data := marshal(t, of)
	want := &corev1.Pod{}
	require.NoError(t, want.Unmarshal(data))
	got, ok := plan.Decode(data, like)
	require.True(t, ok)
	clear(data) // nothing refers to it
	require.Equal(t, want, got)
	return got
}

// address returns where a map is.
func address[M ~map[K]V, K comparable, V any](m M) uintptr { return reflect.ValueOf(m).Pointer() }

// TestPartsOfAnApplicationAreShared: parts with equal bytes are those of an object
// before. That holds from the third object on, unless more parts than are remembered
// came in between; then more are remembered, so some objects later it holds for sure.
func TestPartsOfAnApplicationAreShared(t *testing.T) {
	t.Parallel()
	plan := podPlan(t, NewPool())
	var all []*corev1.Pod // keeps what is shared
	for i := range 100 {
		all = append(all, decodePod(t, plan, pod(i), nil))
	}
	a, b := all[98], all[99]
	assert.Equal(t, address(a.Labels), address(b.Labels))
	assert.NotEqual(t, address(a.Annotations), address(b.Annotations))
	assert.Same(t, &a.OwnerReferences[0], &b.OwnerReferences[0])
	assert.Same(t, &a.Spec.Tolerations[0], &b.Spec.Tolerations[0])
	assert.NotSame(t, &a.Spec.Containers[0], &b.Spec.Containers[0], "they differ in a mount")
	assert.Same(t, a.Spec.Containers[0].LivenessProbe, b.Spec.Containers[0].LivenessProbe)
	assert.Same(t, a.Spec.Containers[0].SecurityContext, b.Spec.Containers[0].SecurityContext)
	assert.Same(t, &a.Spec.Containers[0].Args[0], &b.Spec.Containers[0].Args[0])
	assert.Equal(t, address(a.Spec.Containers[0].Resources.Limits), address(b.Spec.Containers[0].Resources.Limits))
}

// TestNewObjectsShareWithRelatives: an object without an earlier state has the parts of
// the one that it is compared with, where they are equal, without a pool.
func TestNewObjectsShareWithRelatives(t *testing.T) {
	t.Parallel()
	plan := podPlan(t, &Pool{})
	first := decodePod(t, plan, pod(0), nil)
	for i := range 1000 { // until comparing is not tried any more where it is in vain
		data := marshal(t, pod(i))
		got, ok := plan.DecodeNew(data, first)
		require.True(t, ok)
		want := &corev1.Pod{}
		require.NoError(t, want.Unmarshal(data))
		clear(data) // nothing refers to it
		require.Equal(t, want, got)
		require.Same(t, &first.Spec.Tolerations[0], &got.Spec.Tolerations[0])
		require.Same(t, first.Spec.Containers[0].LivenessProbe, got.Spec.Containers[0].LivenessProbe)
		require.Equal(t, address(first.Labels), address(got.Labels))
	}
}

// TestNamesWithinAnObjectAreShared: a text that an object has several times is one,
// without a pool and without another object.
func TestNamesWithinAnObjectAreShared(t *testing.T) {
	t.Parallel()
	one := pod(0)
	one.Spec.Volumes = []corev1.Volume{{Name: "kube-api-access-0"}}
	got := decodePod(t, podPlan(t, &Pool{}), one, nil)
	volume, mount := got.Spec.Volumes[0].Name, got.Spec.Containers[0].VolumeMounts[1].Name
	assert.Same(t, unsafe.StringData(volume), unsafe.StringData(mount))
}

// TestUpdatesShareUnchangedParts: an object has the parts of the state before it, where
// these have not changed.
func TestUpdatesShareUnchangedParts(t *testing.T) {
	plan := podPlan(t, &Pool{})
	before := decodePod(t, plan, pod(1), nil)
	next := pod(1)
	next.ResourceVersion, next.Status.Phase = "2000", corev1.PodRunning
	next.Annotations["owner"] = "team-web"
	next.Spec.Containers[0].Image = "registry/shop:1.1"
	after := decodePod(t, plan, next, before)
	assert.Equal(t, address(before.Labels), address(after.Labels))
	assert.NotEqual(t, address(before.Annotations), address(after.Annotations))
	assert.Same(t, &before.Spec.Tolerations[0], &after.Spec.Tolerations[0])
	assert.NotSame(t, &before.Spec.Containers[0], &after.Spec.Containers[0])
	assert.Same(t, &before.Spec.Containers[0].VolumeMounts[0], &after.Spec.Containers[0].VolumeMounts[0])
	data := marshal(t, next)
	assert.LessOrEqual(t, testing.AllocsPerRun(100, func() { plan.Decode(data, after) }), 2.0, "the object, and a quantity's text")
}

// TestModifiedPartsAreNotTaken: a program that modifies an object, against the rule, does not make
// others wrong.
func TestModifiedPartsAreNotTaken(t *testing.T) {
	t.Parallel()
	plan := podPlan(t, NewPool())
	for i := range 4 {
		got := decodePod(t, plan, pod(i), nil)
		got.Labels["app"] = "modified"
		got.Spec.Tolerations[0].Key = "modified"
		*got.Spec.Tolerations[0].TolerationSeconds = 1
		got.Spec.Containers[0].Args[0] = "modified"
		got.Spec.Containers[0].LivenessProbe.Exec.Command[0] = "modified"
		got.Spec.Containers[0].Resources.Limits["cpu"] = resource.MustParse("1")
		*got.OwnerReferences[0].Controller = false
		again := decodePod(t, plan, pod(i), got)
		again.Labels["more"] = "modified"
		again.Spec.Tolerations[0].Value = "modified"
	}
}

// TestSlicesHaveNoRoom: what is appended to a slice is not seen by who shares it.
func TestSlicesHaveNoRoom(t *testing.T) {
	t.Parallel()
	plan := podPlan(t, NewPool())
	five := pod(1)
	for i := range 5 {
		five.Spec.Tolerations = append(five.Spec.Tolerations, corev1.Toleration{Key: fmt.Sprint(i)})
		five.Spec.Containers[0].Args = append(five.Spec.Containers[0].Args, fmt.Sprint("argument", i))
	}
	var like *corev1.Pod
	for range 4 {
		like = decodePod(t, plan, five, like)
		assert.Equal(t, len(like.Spec.Tolerations), cap(like.Spec.Tolerations))
		assert.Equal(t, len(like.Spec.Containers[0].Args), cap(like.Spec.Containers[0].Args))
		assert.Equal(t, len(like.Spec.Containers), cap(like.Spec.Containers))
	}
}

// TestPoolKeepsNothing: a pool releases values that no object has.
func TestPoolKeepsNothing(t *testing.T) {
	pool := NewPool()
	plan := podPlan(t, pool)
	gone := make(chan struct{})
	func() {
		var last *corev1.Pod
		for i := range 4 {
			last = decodePod(t, plan, pod(i), nil)
		}
		require.NotZero(t, pool.Usage().Parts)
		runtime.AddCleanup(last.Spec.Containers[0].LivenessProbe, func(done chan struct{}) { close(done) }, gone)
	}()
	for {
		runtime.GC()
		select {
		case <-gone:
			decodePod(t, plan, pod(9), nil)
			runtime.KeepAlive(pool)
			return
		default:
			runtime.Gosched()
		}
	}
}

// TestPoolStaysSmall: new values reuse the memory of collected ones.
func TestPoolStaysSmall(t *testing.T) {
	pool := NewPool()
	plan := podPlan(t, pool)
	for i := range 200 {
		other := pod(i)
		other.Labels["app"] = fmt.Sprint("app-", i)
		other.Spec.Tolerations[0].Key = fmt.Sprint("key-", i)
		other.Spec.Containers[0].Args[0] = fmt.Sprint("-v=", i)
		for range 3 {
			decodePod(t, plan, other, nil)
		}
		runtime.GC()
	}
	assert.LessOrEqual(t, pool.Usage().Parts, 64*24)
}

// TestDecodersShareAPool: several goroutines may decode at once.
func TestDecodersShareAPool(t *testing.T) {
	t.Parallel()
	plan := podPlan(t, NewPool())
	var decoding sync.WaitGroup
	for range 4 {
		decoding.Go(func() {
			var like *corev1.Pod
			for i := range 300 {
				like = decodePod(t, plan, pod(i%7), like)
			}
		})
	}
	decoding.Wait()
}

// TestNoPlan: a type that cannot have a plan gets an error.
func TestNoPlan(t *testing.T) {
	t.Parallel()
	_, err := New[corev1.Pod](reflect.TypeFor[corev1.Pod](), nil, nil)
	assert.ErrorContains(t, err, "is not a pointer to a struct")
	_, err = New[*struct{ metav1.ObjectMeta }](reflect.TypeFor[*struct{ metav1.ObjectMeta }](), nil, nil)
	assert.ErrorContains(t, err, "has no generated code for protobuf")
}
