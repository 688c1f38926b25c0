package adapters_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/cache"

	"github.com/kubetyped/informer/adapters"
)

func TestTransformPassesOn(t *testing.T) {
	pod, other, no := sharedPod("a", 1), sharedPod("b", 2), errors.New("no")
	results := map[any]any{}
	untyped := cache.TransformFunc(func(obj any) (any, error) {
		if err, ok := results[obj].(error); ok {
			return nil, err
		}
		return results[obj], nil
	})
	transform := adapters.Transform[*corev1.Pod](untyped)
	results[pod] = other
	got, err := transform(pod)
	require.NoError(t, err)
	assert.Same(t, other, got)

	results[pod] = no
	_, err = transform(pod)
	assert.ErrorIs(t, err, no)

	results[pod] = &corev1.Node{}
	_, err = transform(pod)
	assert.EqualError(t, err, "the transform function made a *v1.Node of a *v1.Pod")
	assert.Nil(t, adapters.Transform[*corev1.Pod](nil))
}

func TestTransformFuncPassesOn(t *testing.T) {
	pod, other, no := sharedPod("a", 1), sharedPod("b", 2), errors.New("no")
	transform := adapters.TransformFunc(func(got *corev1.Pod) (*corev1.Pod, error) {
		assert.Same(t, pod, got)
		return other, no
	})
	got, err := transform(pod)
	assert.ErrorIs(t, err, no)
	assert.Same(t, other, got)

	tombstone := cache.DeletedFinalStateUnknown{Key: "ns/a", Obj: pod}
	got, err = transform(tombstone)
	require.NoError(t, err)
	assert.Equal(t, tombstone, got)

	_, err = transform(&corev1.Node{})
	assert.EqualError(t, err, "the transform function takes a *v1.Pod, and got a *v1.Node")
	assert.Nil(t, adapters.TransformFunc[*corev1.Pod](nil))
}

// A transform function of client-go is used with a typed informer.
func ExampleTransform() {
	stripManagedFields := func(obj any) (any, error) {
		obj.(*corev1.Pod).ManagedFields = nil
		return obj, nil
	}
	transform := adapters.Transform[*corev1.Pod](stripManagedFields) // for typed.WithTransform(transform)

	pod, err := transform(sharedPod("web-0", 1))
	fmt.Println(pod.Name, err)
	// Output: web-0 <nil>
}

// A typed transform function is used with a shared informer.
func ExampleTransformFunc() {
	transform := adapters.TransformFunc(func(pod *corev1.Pod) (*corev1.Pod, error) {
		pod.ManagedFields = nil
		return pod, nil
	}) // for informer.SetTransform(transform)

	pod, err := transform(sharedPod("web-0", 1))
	fmt.Println(pod.(*corev1.Pod).Name, err)
	// Output: web-0 <nil>
}
