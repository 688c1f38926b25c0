package conformance

import (
	"strconv"

	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
)

func configMap(name string) *corev1.ConfigMap {
	return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name}, Data: map[string]string{"k": "v"}}
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

// create makes a ConfigMap and returns it as the server did.
func (c *check) create(name string, labels map[string]string) *corev1.ConfigMap {
	c.Helper()
	cm := configMap(name)
	cm.Labels = labels
	created, err := c.client.CoreV1().ConfigMaps(c.ns).Create(c.ctx, cm, metav1.CreateOptions{})
	require.NoError(c, err)
	return created
}

// change updates a ConfigMap and returns it as the server did.
func (c *check) change(cm *corev1.ConfigMap, f func(*corev1.ConfigMap)) *corev1.ConfigMap {
	c.Helper()
	cm = cm.DeepCopy()
	f(cm)
	updated, err := c.client.CoreV1().ConfigMaps(c.ns).Update(c.ctx, cm, metav1.UpdateOptions{})
	require.NoError(c, err)
	return updated
}

// watch opens a watch of ConfigMaps, which ends with the test.
func (c *check) watch(options metav1.ListOptions) watch.Interface {
	c.Helper()
	w, err := c.client.CoreV1().ConfigMaps(c.ns).Watch(c.ctx, options)
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
