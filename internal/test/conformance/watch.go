package conformance

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/utils/ptr"
)

func testWatchFromVersion(c *check) {
	a := c.create("a", nil)
	b := c.create("b", nil)
	changed := c.change(b, func(cm *corev1.ConfigMap) { cm.Data["k"] = "w" })
	w := c.watch(metav1.ListOptions{ResourceVersion: a.ResourceVersion})
	c.nextOf(w, watch.Added, "b", b.ResourceVersion)
	e := c.nextOf(w, watch.Modified, "b", changed.ResourceVersion)
	assert.Equal(c, changed, e.Object, "an event carries the object as it was written")
	later := c.create("c", nil)
	c.nextOf(w, watch.Added, "c", later.ResourceVersion)
}

func testWatchFromNow(c *check) {
	for _, version := range []string{"", "0"} {
		c.Run("version="+version, func(t *testing.T) {
			c := c.sub(t)
			label := map[string]string{"now": "v" + version}
			first := c.create("a"+version, label)
			second := c.create("b"+version, label)
			w := c.watch(metav1.ListOptions{ResourceVersion: version, LabelSelector: "now=v" + version})
			seen := map[string]string{}
			for range 2 {
				e := c.next(w)
				require.Equal(c, watch.Added, e.Type)
				cm := e.Object.(*corev1.ConfigMap)
				seen[cm.Name] = cm.ResourceVersion
			}
			assert.Equal(c, map[string]string{first.Name: first.ResourceVersion, second.Name: second.ResourceVersion}, seen)
			third := c.create("c"+version, label)
			c.nextOf(w, watch.Added, third.Name, third.ResourceVersion)
		})
	}
}

func testWatchTimeout(c *check) {
	cm := c.create("a", nil)
	for _, seconds := range []int64{1, -5} { // a negative timeout is over at once
		w := c.watch(metav1.ListOptions{ResourceVersion: cm.ResourceVersion, TimeoutSeconds: &seconds})
		for _, e := range c.ended(w) {
			assert.NotEqual(c, watch.Error, e.Type, "a timeout is no error: %v", e.Object)
		}
	}
}

func testWatchNamespaces(c *check) {
	a := c.create("a", map[string]string{"in": c.ns})
	w := c.watchOf(c.client.CoreV1().ConfigMaps(""), metav1.ListOptions{ResourceVersion: a.ResourceVersion, LabelSelector: "in=" + c.ns})
	b := c.create("b", map[string]string{"in": c.ns})
	e := c.nextOf(w, watch.Added, "b", b.ResourceVersion)
	assert.Equal(c, c.ns, e.Object.(*corev1.ConfigMap).Namespace)
	c.nextOf(c.watch(metav1.ListOptions{ResourceVersion: a.ResourceVersion}), watch.Added, "b", b.ResourceVersion)

	inDefault := c.client.CoreV1().ConfigMaps(metav1.NamespaceDefault)
	w = c.watch(metav1.ListOptions{ResourceVersion: b.ResourceVersion})
	other := mustCreate(c, inDefault, configMap("other-than-"+c.ns))
	defer func() { assert.NoError(c, inDefault.Delete(c.ctx, other.Name, metav1.DeleteOptions{})) }()
	last := c.create("c", nil)
	c.nextOf(w, watch.Added, "c", last.ResourceVersion)
}

func initialEvents() metav1.ListOptions {
	return metav1.ListOptions{
		SendInitialEvents:    ptr.To(true),
		ResourceVersionMatch: metav1.ResourceVersionMatchNotOlderThan,
		AllowWatchBookmarks:  true,
	}
}

func testWatchList(c *check) {
	if c.rig.WithoutWatchList {
		c.Skip("the server has no WatchList")
	}
	label := map[string]string{"watch": "list"}
	created := map[string]string{}
	var last *corev1.ConfigMap
	for i := range 3 {
		last = c.create(fmt.Sprintf("a%d", i), label)
		created[last.Name] = last.ResourceVersion
	}
	options := initialEvents()
	options.LabelSelector = "watch=list"
	w := c.watch(options)
	seen := map[string]string{}
	for range created {
		e := c.next(w)
		require.Equal(c, watch.Added, e.Type)
		seen[e.Object.(*corev1.ConfigMap).Name] = e.Object.(*corev1.ConfigMap).ResourceVersion
	}
	assert.Equal(c, created, seen)
	end := c.next(w)
	require.Equal(c, watch.Bookmark, end.Type)
	mark := end.Object.(*corev1.ConfigMap)
	assert.Equal(c, "true", mark.Annotations[metav1.InitialEventsAnnotationKey])
	assert.GreaterOrEqual(c, c.version(mark.ResourceVersion), c.version(last.ResourceVersion))
	assert.Empty(c, mark.Name)
	after := c.create("b", label)
	c.nextOf(w, watch.Added, "b", after.ResourceVersion)

	options.ResourceVersion = fmt.Sprint(c.version(after.ResourceVersion) + 1_000_000)
	early := c.watch(options)
	events := c.ended(early)
	require.Len(c, events, 1)
	assert.True(c, apierrors.HasStatusCause(apierrors.FromObject(events[0].Object), metav1.CauseTypeResourceVersionTooLarge), "%v", events)
}

func testWatchListRefused(c *check) {
	wrong := []metav1.ListOptions{
		{SendInitialEvents: ptr.To(true), AllowWatchBookmarks: true},
		{SendInitialEvents: ptr.To(true), ResourceVersionMatch: metav1.ResourceVersionMatchExact, ResourceVersion: "1"},
		{ResourceVersionMatch: metav1.ResourceVersionMatchNotOlderThan, ResourceVersion: "1"},
	}
	if c.rig.WithoutWatchList {
		wrong = append(wrong, initialEvents())
	}
	for _, options := range wrong {
		w, err := c.maps.Watch(c.ctx, options)
		if err == nil {
			w.Stop()
		}
		assert.True(c, apierrors.IsInvalid(err), "%v: %v", options, err)
	}
	_, err := c.maps.List(c.ctx, initialEvents())
	assert.True(c, apierrors.IsInvalid(err), "%v", err)
}

// A server with WatchList takes a watch from "0" that allows bookmarks for one
// that asks for initial events.
func testWatchInitialEventsByDefault(c *check) {
	if c.rig.WithoutWatchList {
		c.Skip("the server has no WatchList")
	}
	a := c.create("a", map[string]string{"by": "default"})
	// At "0" the server may be behind; now it is not.
	c.list(metav1.ListOptions{ResourceVersion: a.ResourceVersion, ResourceVersionMatch: metav1.ResourceVersionMatchNotOlderThan})
	w := c.watch(metav1.ListOptions{ResourceVersion: "0", AllowWatchBookmarks: true, LabelSelector: "by=default"})
	assert.Equal(c, watch.Added, c.next(w).Type)
	end := c.next(w)
	require.Equal(c, watch.Bookmark, end.Type)
	assert.Equal(c, "true", end.Object.(*corev1.ConfigMap).Annotations[metav1.InitialEventsAnnotationKey])

	silent := c.watch(metav1.ListOptions{
		SendInitialEvents: ptr.To(false), ResourceVersionMatch: metav1.ResourceVersionMatchNotOlderThan, LabelSelector: "by=default",
	})
	b := c.create("b", map[string]string{"by": "default"})
	c.nextOf(silent, watch.Added, "b", b.ResourceVersion)
}

func testSelectorLabels(c *check) {
	cm := c.create("a", map[string]string{"app": "in"})
	c.create("other", map[string]string{"app": "out"})
	w := c.watch(metav1.ListOptions{ResourceVersion: cm.ResourceVersion, LabelSelector: "app=in"})

	out := c.change(cm, func(cm *corev1.ConfigMap) { cm.Labels["app"] = "out"; cm.Data["k"] = "w" })
	e := c.nextOf(w, watch.Deleted, "a", out.ResourceVersion)
	left := e.Object.(*corev1.ConfigMap)
	assert.Equal(c, "in", left.Labels["app"], "leaving the selection shows the last selected state")
	assert.Equal(c, "v", left.Data["k"])

	hidden := c.change(out, func(cm *corev1.ConfigMap) { cm.Data["k"] = "hidden" })
	back := c.change(hidden, func(cm *corev1.ConfigMap) { cm.Labels["app"] = "in" })
	e = c.nextOf(w, watch.Added, "a", back.ResourceVersion)
	assert.Equal(c, back, e.Object)
	again := c.change(back, func(cm *corev1.ConfigMap) { cm.Data["k"] = "x" })
	c.nextOf(w, watch.Modified, "a", again.ResourceVersion)

	assert.Equal(c, []string{"a"}, names(c.list(metav1.ListOptions{LabelSelector: "app in (in, more)"})))
	assert.Equal(c, []string{"a", "other"}, names(c.list(metav1.ListOptions{LabelSelector: "app"})))
}

func testSelectorFields(c *check) {
	c.create("a", nil)
	b := c.create("b", nil)
	list, err := c.maps.List(c.ctx, metav1.ListOptions{FieldSelector: "metadata.name=b"})
	require.NoError(c, err)
	assert.Equal(c, []string{"b"}, names(list))
	w := c.watch(metav1.ListOptions{ResourceVersion: b.ResourceVersion, FieldSelector: "metadata.name=d"})
	c.create("c", nil)
	d := c.create("d", nil)
	c.nextOf(w, watch.Added, "d", d.ResourceVersion)

	onNode := pod("on-node")
	onNode.Spec.NodeName = "n1"
	mustCreate(c, c.pods, onNode)
	mustCreate(c, c.pods, pod("off-node"))
	found, err := c.pods.List(c.ctx, metav1.ListOptions{FieldSelector: "spec.nodeName=n1"})
	require.NoError(c, err)
	require.Len(c, found.Items, 1)
	assert.Equal(c, "on-node", found.Items[0].Name)

	events := c.client.EventsV1().Events(c.ns)
	for _, of := range []string{"a", "b"} {
		mustCreate(c, events, &eventsv1.Event{
			ObjectMeta: metav1.ObjectMeta{Name: of}, EventTime: metav1.NowMicro(), Type: corev1.EventTypeNormal, Reason: "Tested", Action: "Test",
			ReportingController: "example.com/test", ReportingInstance: "one", Regarding: corev1.ObjectReference{Namespace: c.ns, Name: of},
		})
	}
	of, err := events.List(c.ctx, metav1.ListOptions{FieldSelector: "regarding.name=b,reportingController=example.com/test"})
	require.NoError(c, err)
	require.Len(c, of.Items, 1)
	assert.Equal(c, "b", of.Items[0].Name)
	_, err = c.client.CertificatesV1().CertificateSigningRequests().List(c.ctx, metav1.ListOptions{FieldSelector: "spec.signerName=example.com/none"})
	assert.NoError(c, err)
	_, err = c.client.ResourceV1().ResourceSlices().List(c.ctx, metav1.ListOptions{FieldSelector: "spec.nodeName=n1,spec.driver=none,spec.pool.name=none"})
	assert.NoError(c, err)
	_, err = c.client.AppsV1().ReplicaSets(c.ns).List(c.ctx, metav1.ListOptions{FieldSelector: "status.replicas=0"})
	assert.True(c, apierrors.IsBadRequest(err), "%v", err)
}
