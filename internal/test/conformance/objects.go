package conformance

import (
	"context"
	"strconv"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
)

func configMap(name string, finalizers ...string) *corev1.ConfigMap {
	return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name, Finalizers: finalizers}, Data: map[string]string{"k": "v"}}
}

func pod(name string) *corev1.Pod {
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: corev1.PodSpec{
			Containers: []corev1.Container{{Name: "a", Image: "a:1"}, {Name: "b", Image: "b:1"}},
		},
	}
}

func deployment(name string) *appsv1.Deployment {
	labels := map[string]string{"app": name}
	replicas := int32(1)
	return &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: appsv1.DeploymentSpec{
			Replicas: &replicas,
			Selector: &metav1.LabelSelector{MatchLabels: labels},
			Template: corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: labels}, Spec: pod(name).Spec},
		},
	}
}

// creator is a typed client as far as mustCreate uses it; those below are so for the others.
type creator[T any] interface {
	Create(ctx context.Context, obj T, options metav1.CreateOptions) (T, error)
}

type getter[T any] interface {
	Get(ctx context.Context, name string, options metav1.GetOptions) (T, error)
}

type updater[T any] interface {
	Update(ctx context.Context, obj T, options metav1.UpdateOptions) (T, error)
}

type patcher[T any] interface {
	Patch(ctx context.Context, name string, kind types.PatchType, data []byte, options metav1.PatchOptions, subresources ...string) (T, error)
}

type watcher interface {
	Watch(ctx context.Context, options metav1.ListOptions) (watch.Interface, error)
}

// mustCreate makes an object, and returns it as the server did. So do the others below.
func mustCreate[T any](c *check, client creator[T], obj T) T {
	c.Helper()
	created, err := client.Create(c.ctx, obj, metav1.CreateOptions{})
	require.NoError(c, err)
	return created
}

func mustGet[T any](c *check, client getter[T], name string) T {
	c.Helper()
	got, err := client.Get(c.ctx, name, metav1.GetOptions{})
	require.NoError(c, err)
	return got
}

func mustUpdate[T any](c *check, client updater[T], obj T) T {
	c.Helper()
	updated, err := client.Update(c.ctx, obj, metav1.UpdateOptions{})
	require.NoError(c, err)
	return updated
}

func mustPatch[T any](c *check, client patcher[T], name string, kind types.PatchType, data string, subresources ...string) T {
	c.Helper()
	patched, err := client.Patch(c.ctx, name, kind, []byte(data), metav1.PatchOptions{}, subresources...)
	require.NoError(c, err)
	return patched
}

// assertNotFound checks that there is no object of a name.
func assertNotFound[T any](c *check, client getter[T], name string) {
	c.Helper()
	_, err := client.Get(c.ctx, name, metav1.GetOptions{})
	assert.True(c, apierrors.IsNotFound(err), "%v", err)
}

// create makes a ConfigMap and returns it as the server did.
func (c *check) create(name string, labels map[string]string) *corev1.ConfigMap {
	c.Helper()
	cm := configMap(name)
	cm.Labels = labels
	return mustCreate(c, c.maps, cm)
}

// change updates a ConfigMap and returns it as the server did.
func (c *check) change(cm *corev1.ConfigMap, f func(*corev1.ConfigMap)) *corev1.ConfigMap {
	c.Helper()
	cm = cm.DeepCopy()
	f(cm)
	return mustUpdate(c, c.maps, cm)
}

// watch opens a watch of ConfigMaps, which ends with the test.
func (c *check) watch(options metav1.ListOptions) watch.Interface {
	c.Helper()
	return c.watchOf(c.maps, options)
}

// watchOf opens a watch of other objects.
func (c *check) watchOf(client watcher, options metav1.ListOptions) watch.Interface {
	c.Helper()
	w, err := client.Watch(c.ctx, options)
	require.NoError(c, err)
	c.Cleanup(w.Stop)
	return w
}

// next returns the next event of a watch.
func (c *check) next(w watch.Interface) watch.Event {
	c.Helper()
	select {
	case e, ok := <-w.ResultChan():
		require.True(c, ok, "the watch has ended")
		return e
	case <-c.ctx.Done():
		require.Fail(c, "no watch event")
		return watch.Event{}
	}
}

// nextOf returns the next event of a watch that is no bookmark, and checks its
// type, name and resource version.
func (c *check) nextOf(w watch.Interface, t watch.EventType, name, version string) watch.Event {
	c.Helper()
	e := c.next(w)
	for e.Type == watch.Bookmark {
		e = c.next(w)
	}
	require.Equal(c, t, e.Type, "event: %v", e.Object)
	m, ok := e.Object.(metav1.Object)
	require.True(c, ok, "an event of %T", e.Object)
	require.Equal(c, name, m.GetName())
	if version != "" {
		require.Equal(c, version, m.GetResourceVersion())
	}
	return e
}

// ended waits for the end of a watch and returns the events before it.
func (c *check) ended(w watch.Interface) []watch.Event {
	c.Helper()
	var events []watch.Event
	for {
		select {
		case e, ok := <-w.ResultChan():
			if !ok {
				return events
			}
			events = append(events, e)
		case <-c.ctx.Done():
			require.Fail(c, "the watch does not end")
		}
	}
}

// version returns a resource version as a number, to compare.
func (c *check) version(rv string) uint64 {
	c.Helper()
	n, err := strconv.ParseUint(rv, 10, 64)
	require.NoError(c, err)
	return n
}
