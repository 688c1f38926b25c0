package conformance

import (
	"bytes"
	"net/http"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	cborserializer "k8s.io/apimachinery/pkg/runtime/serializer/cbor"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes"
)

const (
	cborType = runtime.ContentTypeCBOR
	jsonType = runtime.ContentTypeJSON
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

// testCBORAccept asks for CBOR, of a server that has it and of one that has not.
func testCBORAccept(c *check) {
	const (
		seq     = runtime.ContentTypeCBORSequence
		proto   = runtime.ContentTypeProtobuf
		partial = ";as=PartialObjectMetadataList;g=meta.k8s.io;v=v1"
	)
	type answer struct {
		code        int
		contentType string
	}
	for _, path := range []string{c.mapsPath(), c.customPath()} {
		preferred, refused := answer{200, proto}, answer{406, jsonType}
		onlyMetadata := preferred
		if path == c.customPath() {
			preferred, onlyMetadata = answer{200, cborType}, answer{406, proto}
		}
		for _, test := range []struct {
			path, accept  string
			with, without answer
		}{
			{path, cborType, answer{200, cborType}, refused},
			{path, cborType + partial, answer{200, cborType}, refused},
			{path, cborType + ";as=Nothing;g=meta.k8s.io;v=v1", refused, refused},
			{path, cborType + ",application/json", answer{200, cborType}, answer{200, jsonType}},
			{path, "application/json;q=0.9," + cborType + ";q=1", answer{200, cborType}, answer{200, jsonType}},
			{path, proto + "," + cborType, preferred, onlyMetadata},
			{path, seq, refused, refused},
			{path + "/absent", cborType, answer{404, cborType}, refused},
			{path + "/absent", cborType + partial, answer{404, jsonType}, refused},
			{path + "?resourceVersion=seven", cborType, answer{400, cborType}, refused},
			{path + "?watch=1", cborType, answer{200, seq}, refused},
			{path + "?watch=1", cborType + ";stream=watch", answer{200, seq}, refused},
			{path + "?watch=1", seq, refused, refused},
			{path + "?watch=1&resourceVersion=seven", cborType, answer{500, cborType}, refused},
			{"/api/v1", cborType, answer{200, cborType}, refused},
			{"/apis/apps", cborType, answer{200, cborType}, refused},
		} {
			want := test.without
			if c.rig.CBOR {
				want = test.with
			}
			code, contentType, body := c.do(http.MethodGet, test.path, http.Header{"Accept": {test.accept}}, "")
			assert.Equal(c, want, answer{code, contentType}, "%s as %s: %s", test.path, test.accept, body)
		}
	}
}

// testCBORBodies sends CBOR, to a server that reads it and to one that does not.
func testCBORBodies(c *check) {
	maps, customs := c.mapsPath(), c.customPath()
	spell := func(content map[string]any) string {
		var data bytes.Buffer
		require.NoError(c, cborserializer.NewSerializer(nil, nil).Encode(&unstructured.Unstructured{Object: content}, &data))
		return data.String()
	}
	metadata := map[string]any{"name": "a"}
	custom := c.customObject("a").Object
	for _, test := range []struct {
		method, path, contentType, body string
		with                            int
	}{
		{"POST", maps, cborType, spell(map[string]any{"metadata": metadata}), 201},
		{"POST", maps, cborType, spell(custom), 400},
		{"POST", maps, cborType, "{}", 400},
		{"POST", customs, cborType, spell(map[string]any{"metadata": metadata}), 400},
		{"POST", customs, cborType, spell(map[string]any{"kind": "ConfigMap", "apiVersion": "v1", "metadata": metadata}), 400},
		{"POST", customs, cborType, "{}", 400},
		{"POST", customs, cborType, spell(custom) + "\xa0", 400},
		{"POST", customs, cborType, spell(custom), 201},
		{"POST", customs, cborType, spell(custom), 409},
		{"POST", customs, runtime.ContentTypeCBORSequence, spell(custom), 415},
		{"PUT", customs + "/a", cborType, spell(custom), 422},
		{"PATCH", customs + "/a", cborType, spell(custom), 415},
		{"PATCH", customs + "/a", "application/merge-patch+cbor", spell(custom), 415},
		{"DELETE", customs + "/a", cborType, "{}", 400},
		{"DELETE", customs + "/a", cborType, spell(map[string]any{
			"kind": "DeleteOptions", "apiVersion": c.rig.CustomResource.GroupVersion().String(),
			"preconditions": map[string]any{"uid": "another"},
		}), 409},
		{"DELETE", customs + "/a", cborType, spell(map[string]any{"kind": "DeleteOptions", "apiVersion": "v1"}), 200},
	} {
		want := http.StatusUnsupportedMediaType
		if c.rig.CBOR {
			want = test.with
		}
		code, _, body := c.do(test.method, test.path, http.Header{"Content-Type": {test.contentType}}, test.body)
		assert.Equal(c, want, code, "%s %s %s %q: %s", test.method, test.path, test.contentType, test.body, body)
	}
}

// testContents writes contents that formats spell in different ways.
func testContents(c *check) {
	plain, err := kubernetes.NewForConfig(json.config(c.rig.Config))
	require.NoError(c, err)

	wanted := configMap("binary")
	wanted.BinaryData = map[string][]byte{"bytes": {0, 0xff, '"'}}
	maps := c.client.CoreV1().ConfigMaps(c.ns)
	cm, err := maps.Create(c.ctx, wanted, metav1.CreateOptions{})
	require.NoError(c, err)
	assert.Equal(c, wanted.BinaryData, cm.BinaryData)
	inJSON, err := plain.CoreV1().ConfigMaps(c.ns).Get(c.ctx, "binary", metav1.GetOptions{})
	require.NoError(c, err)
	assert.Equal(c, inJSON, cm)
	w := c.watch(metav1.ListOptions{FieldSelector: "metadata.name=binary"})
	assert.Equal(c, cm, c.nextOf(w, watch.Added, "binary", "").Object.(*corev1.ConfigMap))

	const raw = `{"a":[1,"b",2.5,null]}`
	revision, err := c.client.AppsV1().ControllerRevisions(c.ns).Create(c.ctx, &appsv1.ControllerRevision{
		ObjectMeta: metav1.ObjectMeta{Name: "raw"}, Data: runtime.RawExtension{Raw: []byte(raw)},
	}, metav1.CreateOptions{})
	require.NoError(c, err)
	assert.JSONEq(c, raw, string(revision.Data.Raw))
	revision, err = plain.AppsV1().ControllerRevisions(c.ns).Get(c.ctx, "raw", metav1.GetOptions{})
	require.NoError(c, err)
	assert.JSONEq(c, raw, string(revision.Data.Raw))
}

// testCustomNumbers writes numbers; CBOR alone tells integers from others.
func testCustomNumbers(c *check) {
	customs := c.custom()
	obj := c.customObject("numbers")
	obj.Object["spec"] = map[string]any{"half": 0.5, "whole": 2.0, "large": int64(1<<53 + 1)}
	want := map[string]any{"half": 0.5, "whole": int64(2), "large": int64(1<<53 + 1)}
	if c.format == cbor {
		want["whole"] = 2.0
	}
	created, err := customs.Create(c.ctx, obj, metav1.CreateOptions{})
	require.NoError(c, err)
	assert.Equal(c, want, created.Object["spec"])
	got, err := customs.Get(c.ctx, "numbers", metav1.GetOptions{})
	require.NoError(c, err)
	assert.Equal(c, want, got.Object["spec"])
}
