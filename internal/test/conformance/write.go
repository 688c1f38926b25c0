package conformance

import (
	"strings"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

func testCreate(c *check) {
	first := c.create("first", nil)
	second := c.create("second", nil)

	assert.Equal(c, "first", first.Name)
	assert.Equal(c, c.ns, first.Namespace)
	assert.NotEmpty(c, first.UID)
	assert.NotEqual(c, first.UID, second.UID)
	assert.False(c, first.CreationTimestamp.IsZero())
	assert.Equal(c, map[string]string{"k": "v"}, first.Data)
	assert.Less(c, c.version(first.ResourceVersion), c.version(second.ResourceVersion))

	assert.Equal(c, first, mustGet(c, c.maps, "first"))
}

func testCreateGeneratedName(c *check) {
	names := map[string]bool{}
	for range 3 {
		cm := configMap("")
		cm.GenerateName = "gen-"
		created := mustCreate(c, c.maps, cm)
		assert.True(c, strings.HasPrefix(created.Name, "gen-") && len(created.Name) > len("gen-"), created.Name)
		names[created.Name] = true
	}
	assert.Len(c, names, 3)
}

func testCreateRefused(c *check) {
	c.create("taken", nil)
	_, err := c.maps.Create(c.ctx, configMap("taken"), metav1.CreateOptions{})
	assert.True(c, apierrors.IsAlreadyExists(err), "%v", err)
	_, err = c.maps.Create(c.ctx, configMap(""), metav1.CreateOptions{})
	assert.True(c, apierrors.IsInvalid(err), "%v", err)
	_, err = c.maps.Create(c.ctx, configMap("Not_A_Name"), metav1.CreateOptions{})
	assert.True(c, apierrors.IsInvalid(err), "%v", err)
	elsewhere := configMap("elsewhere")
	elsewhere.Namespace = c.ns + "-other"
	_, err = c.maps.Create(c.ctx, elsewhere, metav1.CreateOptions{})
	assert.True(c, apierrors.IsBadRequest(err), "%v", err)
	versioned := configMap("versioned")
	versioned.ResourceVersion = "7"
	_, err = c.maps.Create(c.ctx, versioned, metav1.CreateOptions{})
	assert.ErrorContains(c, err, "resourceVersion should not be set")
	assertNotFound(c, c.maps, "versioned")
}

func testUpdate(c *check) {
	cm := c.create("a", nil)
	updated := c.change(cm, func(cm *corev1.ConfigMap) { cm.Data["k"] = "w" })
	assert.Equal(c, "w", updated.Data["k"])
	assert.Equal(c, cm.UID, updated.UID)
	assert.Equal(c, cm.CreationTimestamp, updated.CreationTimestamp)
	assert.Greater(c, c.version(updated.ResourceVersion), c.version(cm.ResourceVersion))

	// Without a version, an update replaces whatever is there.
	blind := c.change(updated, func(cm *corev1.ConfigMap) { cm.ResourceVersion, cm.UID = "", ""; cm.Data["k"] = "x" })
	assert.Equal(c, "x", blind.Data["k"])
	assert.Equal(c, cm.UID, blind.UID)
	younger := c.change(blind, func(cm *corev1.ConfigMap) { cm.CreationTimestamp = metav1.Unix(0, 0); cm.Data["k"] = "y" })
	assert.Equal(c, cm.CreationTimestamp, younger.CreationTimestamp)
}

func testUpdateRefused(c *check) {
	old := c.create("a", nil)
	c.change(old, func(cm *corev1.ConfigMap) { cm.Data["k"] = "w" })

	old.Data["k"] = "stale"
	_, err := c.maps.Update(c.ctx, old, metav1.UpdateOptions{})
	assert.True(c, apierrors.IsConflict(err), "%v", err)
	stranger := old.DeepCopy()
	stranger.ResourceVersion, stranger.UID = "", "another"
	_, err = c.maps.Update(c.ctx, stranger, metav1.UpdateOptions{})
	assert.True(c, apierrors.IsConflict(err), "%v", err)
	_, err = c.maps.Update(c.ctx, configMap("absent"), metav1.UpdateOptions{})
	assert.True(c, apierrors.IsNotFound(err), "%v", err)
	deleted := old.DeepCopy()
	deleted.ResourceVersion, deleted.DeletionTimestamp = "", &old.CreationTimestamp
	_, err = c.maps.Update(c.ctx, deleted, metav1.UpdateOptions{})
	assert.True(c, apierrors.IsInvalid(err), "%v", err)

	assert.Equal(c, "w", mustGet(c, c.maps, "a").Data["k"])
}

func testUpdateOfNothing(c *check) {
	cm := c.create("a", nil)
	w := c.watch(metav1.ListOptions{ResourceVersion: cm.ResourceVersion})
	same := c.change(cm, func(*corev1.ConfigMap) {})
	assert.Equal(c, cm.ResourceVersion, same.ResourceVersion)
	other := c.create("b", nil)
	c.nextOf(w, "ADDED", "b", other.ResourceVersion)
}

func testGeneration(c *check) {
	d := mustCreate(c, c.deployments, deployment("d"))
	assert.EqualValues(c, 1, d.Generation)

	d.Labels = map[string]string{"only": "metadata"}
	d = mustUpdate(c, c.deployments, d)
	assert.EqualValues(c, 1, d.Generation)

	*d.Spec.Replicas = 5
	d = mustUpdate(c, c.deployments, d)
	assert.EqualValues(c, 2, d.Generation)
}

func testStatus(c *check) {
	wanted := deployment("d")
	wanted.Status.ObservedGeneration = 9
	d := mustCreate(c, c.deployments, wanted)
	assert.Zero(c, d.Status.ObservedGeneration, "a create has no status")
	nodes, ready := c.client.CoreV1().Nodes(), corev1.NodeCondition{Type: corev1.NodeReady, Status: corev1.ConditionTrue}
	node := mustCreate(c, nodes, &corev1.Node{
		ObjectMeta: metav1.ObjectMeta{Name: c.ns}, Status: corev1.NodeStatus{Conditions: []corev1.NodeCondition{ready}},
	})
	assert.Equal(c, []corev1.NodeCondition{ready}, node.Status.Conditions, "but that of a Node")
	assert.NoError(c, nodes.Delete(c.ctx, node.Name, metav1.DeleteOptions{}))

	d.Status.ObservedGeneration = 3
	*d.Spec.Replicas = 7
	d, err := c.deployments.UpdateStatus(c.ctx, d, metav1.UpdateOptions{})
	require.NoError(c, err)
	assert.EqualValues(c, 3, d.Status.ObservedGeneration)
	assert.EqualValues(c, 1, *d.Spec.Replicas, "an update of the status changes the status alone")
	assert.EqualValues(c, 1, d.Generation)

	d.Status.ObservedGeneration = 4
	*d.Spec.Replicas = 7
	d = mustUpdate(c, c.deployments, d)
	assert.EqualValues(c, 3, d.Status.ObservedGeneration, "an update leaves the status alone")
	assert.EqualValues(c, 7, *d.Spec.Replicas)

	d = mustPatch(c, c.deployments, "d", types.MergePatchType,
		`{"spec":{"replicas":1},"status":{"observedGeneration":5}}`, "status")
	assert.EqualValues(c, 5, d.Status.ObservedGeneration)
	assert.EqualValues(c, 7, *d.Spec.Replicas)
}

func testPatch(c *check) {
	p := mustCreate(c, c.pods, pod("p"))

	patched := mustPatch(c, c.pods, "p", types.StrategicMergePatchType,
		`{"spec":{"containers":[{"name":"b","image":"b:2"}]}}`)
	require.Len(c, patched.Spec.Containers, 2, "strategic merge knows containers by name")
	assert.Equal(c, "b:2", patched.Spec.Containers[1].Image)
	assert.Greater(c, c.version(patched.ResourceVersion), c.version(p.ResourceVersion))

	patched = mustPatch(c, c.pods, "p", types.MergePatchType, `{"metadata":{"labels":{"a":"b"}}}`)
	assert.Equal(c, map[string]string{"a": "b"}, patched.Labels)

	patched = mustPatch(c, c.pods, "p", types.JSONPatchType,
		`[{"op":"test","path":"/metadata/labels/a","value":"b"},{"op":"replace","path":"/spec/containers/0/image","value":"a:3"}]`)
	assert.Equal(c, "a:3", patched.Spec.Containers[0].Image)

	assert.Equal(c, patched, mustGet(c, c.pods, "p"))
}

func testPatchRefused(c *check) {
	cm := c.create("a", nil)
	c.change(cm, func(cm *corev1.ConfigMap) { cm.Data["k"] = "w" })
	patch := func(name string, t types.PatchType, data string) error {
		_, err := c.maps.Patch(c.ctx, name, t, []byte(data), metav1.PatchOptions{})
		return err
	}
	err := patch("absent", types.MergePatchType, `{}`)
	assert.True(c, apierrors.IsNotFound(err), "%v", err)
	err = patch("a", types.MergePatchType, `{"metadata":{"resourceVersion":"`+cm.ResourceVersion+`"},"data":{"k":"stale"}}`)
	assert.True(c, apierrors.IsConflict(err), "%v", err)
	err = patch("a", types.JSONPatchType, `[{"op":"test","path":"/data/k","value":"other"}]`)
	assert.True(c, apierrors.IsInvalid(err), "%v", err)
	err = patch("a", types.MergePatchType, `not json`)
	assert.True(c, apierrors.IsBadRequest(err), "%v", err)
	err = patch("a", types.PatchType("application/unheard-of"), `{}`)
	assert.True(c, apierrors.IsUnsupportedMediaType(err), "%v", err)

	assert.Equal(c, "w", mustGet(c, c.maps, "a").Data["k"])
}

func testDryRun(c *check) {
	all := []string{metav1.DryRunAll}
	created, err := c.maps.Create(c.ctx, configMap("imagined"), metav1.CreateOptions{DryRun: all})
	require.NoError(c, err)
	assert.NotEmpty(c, created.UID)
	assertNotFound(c, c.maps, "imagined")

	cm := c.create("a", nil)
	changed := cm.DeepCopy()
	changed.Data["k"] = "w"
	changed, err = c.maps.Update(c.ctx, changed, metav1.UpdateOptions{DryRun: all})
	require.NoError(c, err)
	assert.Equal(c, "w", changed.Data["k"])
	require.NoError(c, c.maps.Delete(c.ctx, "a", metav1.DeleteOptions{DryRun: all}))

	assert.Equal(c, cm, mustGet(c, c.maps, "a"))
}
