package conformance

import (
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes"
)

func (c *check) mapsPath() string { return "/api/v1/namespaces/" + c.ns + "/configmaps" }

// customPath returns the path of the custom resource; it skips the test if there
// is none.
func (c *check) customPath() string {
	c.Helper()
	if c.rig.CustomKind == "" {
		c.Skip("the rig has no custom resource")
	}
	gvr := c.rig.CustomResource
	return "/apis/" + gvr.Group + "/" + gvr.Version + "/namespaces/" + c.ns + "/" + gvr.Resource
}

// testContents writes contents that formats spell in different ways.
func testContents(c *check) {
	plain, err := kubernetes.NewForConfig(json.config(c.rig.Config))
	require.NoError(c, err)

	wanted := configMap("binary")
	wanted.BinaryData = map[string][]byte{"bytes": {0, 0xff, '"'}}
	cm := mustCreate(c, c.maps, wanted)
	assert.Equal(c, wanted.BinaryData, cm.BinaryData)
	inJSON := mustGet(c, plain.CoreV1().ConfigMaps(c.ns), "binary")
	assert.Equal(c, inJSON, cm)
	w := c.watch(metav1.ListOptions{FieldSelector: "metadata.name=binary"})
	assert.Equal(c, cm, c.nextOf(w, watch.Added, "binary", "").Object.(*corev1.ConfigMap))

	const raw = `{"a":[1,"b",2.5,null]}`
	revision := mustCreate(c, c.client.AppsV1().ControllerRevisions(c.ns), &appsv1.ControllerRevision{
		ObjectMeta: metav1.ObjectMeta{Name: "raw"}, Data: runtime.RawExtension{Raw: []byte(raw)},
	})
	assert.JSONEq(c, raw, string(revision.Data.Raw))
	revision = mustGet(c, plain.AppsV1().ControllerRevisions(c.ns), "raw")
	assert.JSONEq(c, raw, string(revision.Data.Raw))
}

// testCustomNumbers writes numbers. In JSON, a whole float looks like an integer.
func testCustomNumbers(c *check) {
	customs := c.custom()
	obj := c.customObject("numbers")
	obj.Object["spec"] = map[string]any{"half": 0.5, "whole": 2.0, "large": int64(1<<53 + 1)}
	want := map[string]any{"half": 0.5, "whole": int64(2), "large": int64(1<<53 + 1)}
	created, err := customs.Create(c.ctx, obj, metav1.CreateOptions{})
	require.NoError(c, err)
	assert.Equal(c, want, created.Object["spec"])
	got, err := customs.Get(c.ctx, "numbers", metav1.GetOptions{})
	require.NoError(c, err)
	assert.Equal(c, want, got.Object["spec"])
}
