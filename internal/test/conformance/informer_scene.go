package conformance

import (
	"context"
	stdjson "encoding/json"
	"net/http"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"

	"github.com/kubetyped/informer/index"
)

// sceneLabel is on all objects of a scene.
const sceneLabel = "conformance.kubetyped.io/scene"

// scene is where an informer is checked: objects of one resource, of which only the check writes
// any.
type scene struct {
	*check
	resource  resource
	namespace string // of the objects, "" if they have none
	label     string // value of sceneLabel
	shared    bool   // others write objects of the resource in the namespace
	objects   dynamic.NamespaceableResourceInterface

	mu     sync.Mutex
	writes []write // guarded by mu; in order
}

// write is what was done to an object.
type write struct {
	key  index.Key
	kind index.EventType
	// version is the one since then; "" if the object is gone, or was marked to be
	// deleted, and it is not known.
	version string
}

// newScene returns a scene for a check, of objects of a resource. With a label, others use the
// namespace of the rig as well.
func newScene(t *testing.T, rig Rig, f format, of func(Rig) resource, label string) *scene {
	t.Helper()
	c := newCheck(t, rig, f)
	s := &scene{check: c, resource: of(rig), namespace: c.ns, label: label, shared: label != ""}
	if s.resource.kind == "" {
		c.Skip("the rig has no custom resource")
	}
	if s.resource.clusterScoped {
		s.namespace, s.shared = "", true
		s.label = c.ns + label
	}
	if s.label == "" {
		s.label = c.ns
	}
	client, err := dynamic.NewForConfig(c.config)
	require.NoError(c, err)
	s.objects = client.Resource(s.resource.gvr)
	if s.shared {
		c.Cleanup(func() { s.cleanUp() })
	}
	return s
}

// key returns the key of an object.
func (s *scene) key(name string) index.Key {
	if s.shared {
		name = s.label + "." + name
	}
	return index.Key{Namespace: s.namespace, Name: name}
}

func (s *scene) in(key index.Key) dynamic.ResourceInterface {
	if s.resource.clusterScoped {
		return s.objects
	}
	return s.objects.Namespace(key.Namespace)
}

func (s *scene) note(key index.Key, kind index.EventType, version string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.writes = append(s.writes, write{key: key, kind: kind, version: version})
}

// written returns the writes from the given one on.
func (s *scene) written(from int) []write {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.writes[from:len(s.writes):len(s.writes)]
}

// The methods that write may be called from any goroutine. After a failure they
// return "".

// create makes an object and returns its version.
func (s *scene) create(name string, labels ...string) string {
	s.Helper()
	return s.createAt(s.key(name), metav1.ObjectMeta{Labels: labelsOf(labels)})
}

func (s *scene) createAt(key index.Key, meta metav1.ObjectMeta) string {
	s.Helper()
	if meta.Labels == nil {
		meta.Labels = map[string]string{}
	}
	meta.Name = key.Name
	meta.Labels[sceneLabel] = s.label
	created, err := s.in(key).Create(s.ctx, s.resource.object(meta), metav1.CreateOptions{})
	if !assert.NoError(s, err) {
		return ""
	}
	s.note(key, index.Added, created.GetResourceVersion())
	return created.GetResourceVersion()
}

// labelsOf makes labels of keys and values in turn.
func labelsOf(pairs []string) map[string]string {
	labels := map[string]string{}
	for i := 0; i+1 < len(pairs); i += 2 {
		labels[pairs[i]] = pairs[i+1]
	}
	return labels
}

// patch merges fields into an object and returns its version.
func (s *scene) patch(key index.Key, fields map[string]any, subresources ...string) string {
	s.Helper()
	data, err := stdjson.Marshal(fields)
	if !assert.NoError(s, err) {
		return ""
	}
	patched, err := s.in(key).Patch(s.ctx, key.Name, types.MergePatchType, data, metav1.PatchOptions{}, subresources...)
	if !assert.NoError(s, err) {
		return ""
	}
	if patched.GetDeletionTimestamp() != nil && len(patched.GetFinalizers()) == 0 {
		s.note(key, index.Deleted, "")
		return ""
	}
	s.note(key, index.Updated, patched.GetResourceVersion())
	return patched.GetResourceVersion()
}

func metadataOf(field string, value any) map[string]any {
	return map[string]any{"metadata": map[string]any{field: value}}
}

// change changes an object and returns its version.
func (s *scene) change(name, to string) string {
	s.Helper()
	return s.patch(s.key(name), metadataOf("annotations", map[string]any{"changed": to}))
}

// relabel changes a label of an object and returns its version.
func (s *scene) relabel(name, label, value string) string {
	s.Helper()
	return s.patch(s.key(name), metadataOf("labels", map[string]any{label: value}))
}

// setPhase changes the status of an object and returns its version.
func (s *scene) setPhase(name string, phase corev1.PodPhase) string {
	s.Helper()
	return s.patch(s.key(name), map[string]any{"status": map[string]any{"phase": phase}}, "status")
}

// delete deletes an object that has no finalizers.
func (s *scene) delete(name string) {
	s.Helper()
	s.deleteAt(s.key(name))
}

func (s *scene) deleteAt(key index.Key) {
	s.Helper()
	if !assert.NoError(s, s.in(key).Delete(s.ctx, key.Name, metav1.DeleteOptions{})) {
		return
	}
	if s.resource.graceful {
		s.note(key, index.Updated, "")
	}
	s.note(key, index.Deleted, "")
}

// server returns the objects of the server, read in JSON.
func (w *way[T]) server(s *scene, namespace string, options metav1.ListOptions) []T {
	s.Helper()
	request := s.client.CoreV1().RESTClient().Verb(http.MethodGet).AbsPath(s.resource.path(namespace)).SetHeader("Accept", w.accept)
	if options.LabelSelector != "" {
		request = request.Param("labelSelector", options.LabelSelector)
	}
	if options.FieldSelector != "" {
		request = request.Param("fieldSelector", options.FieldSelector)
	}
	data, err := request.DoRaw(s.ctx)
	require.NoError(s, err)
	list, err := w.decode(data)
	require.NoError(s, err)
	return list
}

// anotherNamespace makes a namespace, until the test ends.
func (s *scene) anotherNamespace() string {
	s.Helper()
	namespaces := s.client.CoreV1().Namespaces()
	created, err := namespaces.Create(s.ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: s.ns + "-2"}}, metav1.CreateOptions{})
	require.NoError(s, err)
	s.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		defer cancel()
		assert.NoError(s, namespaces.Delete(ctx, created.Name, metav1.DeleteOptions{}))
	})
	return created.Name
}

// settle waits until a list from the server's cache shows all that was written.
func (s *scene) settle() {
	s.Helper()
	objects := s.in(index.Key{Namespace: s.namespace})
	now, err := objects.List(s.ctx, metav1.ListOptions{Limit: 1})
	require.NoError(s, err)
	_, err = objects.List(s.ctx, metav1.ListOptions{
		ResourceVersion: now.GetResourceVersion(), ResourceVersionMatch: metav1.ResourceVersionMatchNotOlderThan,
	})
	require.NoError(s, err)
}

// cleanUp removes the objects of a scene that do not go with its namespace.
func (s *scene) cleanUp() {
	var objects dynamic.ResourceInterface = s.objects
	if s.namespace != "" {
		objects = s.objects.Namespace(s.namespace)
	}
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	err := objects.DeleteCollection(ctx, metav1.DeleteOptions{}, metav1.ListOptions{LabelSelector: sceneLabel + "=" + s.label})
	assert.NoError(s, err, "clean up")
}
