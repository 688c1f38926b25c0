package answers

import (
	"errors"
	"mime"
	"net/http"
	"reflect"
	"strconv"
	"sync"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	utiljson "k8s.io/apimachinery/pkg/util/json"

	"github.com/kubetyped/informer/index"
	"github.com/kubetyped/informer/internal/decode/jsontree"
)

// answer is what a write was answered, as far as that describes an object.
type answer struct {
	of       target
	key      index.Key
	uid      types.UID
	version  uint64
	labels   map[string]string
	created  bool // the write has made the object
	deletion bool // the object is gone
	held     bool // a deletion that something holds up

	mediaType string
	object    []byte                  // as items of lists are; nil with a Status
	kind      schema.GroupVersionKind // of the object

	write, begun uint64 // its number, and of the last write that had begun when it came
}

// head is what matters of an object.
type head struct {
	metav1.TypeMeta `json:",inline"`

	Metadata metadata `json:"metadata"`
}

// metadata is what matters of an object's metadata.
type metadata struct {
	Namespace                  string            `json:"namespace"`
	Name                       string            `json:"name"`
	UID                        types.UID         `json:"uid"`
	ResourceVersion            string            `json:"resourceVersion"`
	DeletionTimestamp          *metav1.Time      `json:"deletionTimestamp"`
	DeletionGracePeriodSeconds *int64            `json:"deletionGracePeriodSeconds"`
	Finalizers                 []string          `json:"finalizers"`
	Labels                     map[string]string `json:"labels"`
}

// statusKind is that of a Status.
var statusKind = metav1.Unversioned.WithKind("Status")

// read makes an answer of the response to a write. It returns why it says nothing.
func read(method string, of target, response *http.Response, text []byte) (*answer, Reason) {
	mediaType, _, err := mime.ParseMediaType(response.Header.Get("Content-Type"))
	if err != nil || mediaType != runtime.ContentTypeJSON && mediaType != runtime.ContentTypeProtobuf {
		return nil, Format
	}
	a := &answer{of: of, mediaType: mediaType, object: text}
	var h *head
	if mediaType == runtime.ContentTypeJSON {
		h, err = readJSON(text)
	} else {
		h, err = a.readProtobuf(text)
	}
	if err != nil {
		return nil, Broken
	}
	a.kind = h.GroupVersionKind()
	deletes := method == http.MethodDelete
	if deletes && a.kind == statusKind {
		return a.readStatus()
	}
	return a.readObject(&h.Metadata, deletes, response.StatusCode == http.StatusCreated)
}

// readObject takes in what an object says of itself.
func (a *answer) readObject(m *metadata, deletes, created bool) (*answer, Reason) {
	if a.kind.GroupVersion() != a.of.GroupVersion() && a.kind != partialKind || a.kind.Kind == "" {
		return nil, Form
	}
	a.key, a.uid, a.labels = index.Key{Namespace: m.Namespace, Name: m.Name}, m.UID, m.Labels
	a.created = created && a.of.subresource == ""
	if a.key.Name == "" || a.key.Namespace != a.of.namespace || a.of.name != "" && a.of.name != a.key.Name {
		return nil, Form
	}
	finalized := len(m.Finalizers) == 0 && !a.isNamespaceInUse()
	graceful := m.DeletionGracePeriodSeconds != nil && *m.DeletionGracePeriodSeconds > 0
	if deletes {
		a.held = !finalized || m.DeletionTimestamp != nil && graceful
		a.deletion = !a.held
	} else {
		a.deletion = m.DeletionTimestamp != nil && finalized && !graceful
	}
	var err error
	if a.version, err = strconv.ParseUint(m.ResourceVersion, 10, 64); !a.deletion && (err != nil || a.version == 0) {
		return nil, Version
	}
	if a.deletion && a.uid == "" {
		return nil, Form
	}
	return a, ""
}

// partialKind is the kind of metadata alone.
var partialKind = schema.GroupVersionKind{Group: "meta.k8s.io", Version: "v1", Kind: "PartialObjectMetadata"}

// isNamespaceInUse reports whether the object is a Namespace that has finalizers in its spec.
func (a *answer) isNamespaceInUse() bool {
	if a.of.GroupVersionResource != corev1.SchemeGroupVersion.WithResource("namespaces") || a.kind == partialKind {
		return false
	}
	var namespace corev1.Namespace
	err := a.decode(&namespace)
	return err != nil || len(namespace.Spec.Finalizers) > 0
}

// decode decodes the object.
func (a *answer) decode(into interface{ Unmarshal([]byte) error }) error {
	if a.mediaType == runtime.ContentTypeJSON {
		return utiljson.Unmarshal(a.object, into)
	}
	return into.Unmarshal(a.object)
}

// readStatus takes in what a Status says of the object that was deleted.
func (a *answer) readStatus() (*answer, Reason) {
	var status metav1.Status
	if a.decode(&status) != nil || status.Status != metav1.StatusSuccess || status.Details == nil || status.Details.UID == "" {
		return nil, Form
	}
	a.key, a.uid = index.Key{Namespace: a.of.namespace, Name: a.of.name}, status.Details.UID
	a.deletion, a.object = true, nil
	return a, ""
}

// heads returns what decodes the head of objects in JSON, and passes over the rest. It is made
// with the first answer.
var heads = sync.OnceValue(func() *jsontree.Structs[*head] {
	structs, _ := jsontree.NewStructs[*head](reflect.TypeFor[*head](), nil) // with an error it is nil
	return structs
})

// readJSON reads the head of an object in JSON.
func readJSON(text []byte) (*head, error) {
	if structs := heads(); structs != nil {
		if h, ok := structs.Decode(text, nil); ok {
			return h, nil
		}
	}
	h := new(head)
	return h, utiljson.Unmarshal(text, h)
}

var errNoEnvelope = errors.New("the object is not in the envelope of API servers")

// readProtobuf reads an object that was sent in protobuf. The metadata is field 1 of all
// objects of the API.
func (a *answer) readProtobuf(text []byte) (*head, error) {
	message, ok := unwrap(text)
	if !ok {
		return nil, errNoEnvelope
	}
	h := &head{TypeMeta: metav1.TypeMeta{APIVersion: message.APIVersion, Kind: message.Kind}}
	a.object = message.Raw
	var partial metav1.PartialObjectMetadata
	if h.GroupVersionKind() == statusKind {
		return h, nil
	}
	err := partial.Unmarshal(message.Raw)
	m := &partial.ObjectMeta
	h.Metadata = metadata{
		m.Namespace, m.Name, m.UID, m.ResourceVersion, m.DeletionTimestamp, m.DeletionGracePeriodSeconds, m.Finalizers, m.Labels,
	}
	return h, err
}
