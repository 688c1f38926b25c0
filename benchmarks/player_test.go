package benchmarks

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes/scheme"

	"github.com/kubetyped/informer/benchmarks/internal/cluster"
)

// player is an API server that has nothing but Pods, and has encoded everything that it sends
// before it is asked. It runs in a separate process, and takes next to nothing from its clients:
// it sends many events with one write.
type player struct {
	recordings map[string]*recording // by media type
}

// recording is what a player sends in one format.
type recording struct {
	mediaType string   // of the response
	initial   [][]byte // a streamed list, with the bookmark
	events    [][]byte // changes of all Pods, to be sent again and again
}

// recordedVersions is how many updates of each Pod a player has. They differ, so
// that a version that is sent again is equal to none that is still kept.
const recordedVersions = 3

// writeSize is how much a player sends with one write, in bytes.
const writeSize = 64 << 10

// serveTask runs a player. Its arguments are how many Pods there are in lists, how
// many change, and the formats.
func serveTask(arguments []string, ready func(string)) error {
	listed, err := strconv.Atoi(arguments[0])
	if err != nil {
		return err
	}
	changed, err := strconv.Atoi(arguments[1])
	if err != nil {
		return err
	}
	p := &player{recordings: map[string]*recording{}}
	for _, mediaType := range arguments[2:] {
		if p.recordings[mediaType], err = record(mediaType, listed, changed); err != nil {
			return err
		}
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	server := &http.Server{Handler: p}
	served := make(chan error, 1)
	go func() { served <- server.Serve(listener) }()
	ready("http://" + listener.Addr().String())
	if err := untilTold(); err != nil {
		return err
	}
	if err := server.Close(); err != nil {
		return err
	}
	<-served
	return nil
}

// record encodes what is to be sent.
func record(mediaType string, listed, changed int) (*recording, error) {
	r, err := recordPods(mediaType, cluster.New(max(listed, 1), 50), listed)
	if err != nil {
		return nil, err
	}
	info, frames, _ := newFrames(mediaType)
	pods := cluster.New(max(changed, 1), 50)
	for version := 2; version < 2+recordedVersions; version++ {
		for _, i := range pods.Shuffled(0)[:changed] {
			frames.add(info, watch.Modified, pods.Whole(i, version))
		}
	}
	r.events = frames.writes()
	return r, frames.err
}

// recordPods encodes a list of Pods of a cluster.
func recordPods(mediaType string, pods *cluster.Cluster, listed int) (*recording, error) {
	info, frames, err := newFrames(mediaType)
	if err != nil {
		return nil, err
	}
	for _, i := range pods.Shuffled(0)[:listed] {
		frames.add(info, watch.Added, pods.Whole(i, 1))
	}
	frames.add(info, watch.Bookmark, &corev1.Pod{ObjectMeta: metav1.ObjectMeta{
		ResourceVersion: "1", Annotations: map[string]string{metav1.InitialEventsAnnotationKey: "true"},
	}})
	return &recording{mediaType: info.MediaType, initial: frames.writes()}, frames.err
}

// metadataAlone is in the media types by which the metadata of objects are requested.
const metadataAlone = ";as=PartialObjectMetadata"

// newFrames returns what encodes events in the format that a client accepts.
func newFrames(accepted string) (runtime.SerializerInfo, framesOf, error) {
	mediaType, _, _ := strings.Cut(accepted, ";")
	info, ok := runtime.SerializerInfoForMediaType(scheme.Codecs.SupportedMediaTypes(), mediaType)
	if !ok {
		return info, framesOf{}, fmt.Errorf("no serializer for %s", accepted)
	}
	return info, framesOf{metadata: strings.Contains(accepted, metadataAlone)}, nil
}

// framesOf encodes events, many for each write.
type framesOf struct {
	metadata bool // of objects, and nothing else
	all      []([]byte)
	buf      bytes.Buffer
	err      error
}

func (f *framesOf) add(info runtime.SerializerInfo, t watch.EventType, pod *corev1.Pod) {
	pod.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("Pod"))
	var whole runtime.Object = pod
	if f.metadata {
		whole = &metav1.PartialObjectMetadata{
			TypeMeta:   metav1.TypeMeta{APIVersion: metav1.SchemeGroupVersion.String(), Kind: "PartialObjectMetadata"},
			ObjectMeta: pod.ObjectMeta,
		}
	}
	f.encode(info, t, whole)
}

// encode adds an event of an object that has a kind.
func (f *framesOf) encode(info runtime.SerializerInfo, t watch.EventType, whole runtime.Object) {
	var object bytes.Buffer
	if err := info.Serializer.Encode(whole, &object); err != nil {
		f.err = err
		return
	}
	stream := info.StreamSerializer
	event := &metav1.WatchEvent{Type: string(t), Object: runtime.RawExtension{Raw: object.Bytes()}}
	if err := stream.Encode(event, stream.NewFrameWriter(&f.buf)); err != nil {
		f.err = err
	}
	if f.buf.Len() >= writeSize {
		f.cut()
	}
}

func (f *framesOf) cut() {
	f.all = append(f.all, bytes.Clone(f.buf.Bytes()))
	f.buf.Reset()
}

// writes returns what was added since the last time.
func (f *framesOf) writes() [][]byte {
	if f.buf.Len() > 0 {
		f.cut()
	}
	all := f.all
	f.all = nil
	return all
}

// ServeHTTP implements http.Handler.
func (p *player) ServeHTTP(w http.ResponseWriter, request *http.Request) {
	if request.URL.Path != "/api/v1/pods" {
		w.Header().Set("Content-Type", runtime.ContentTypeJSON)
		// The client has left if this fails, and asks again.
		_ = json.NewEncoder(w).Encode(&metav1.APIResourceList{
			TypeMeta: metav1.TypeMeta{Kind: "APIResourceList", APIVersion: "v1"}, GroupVersion: "v1",
			APIResources: []metav1.APIResource{{Name: "pods", Kind: "Pod", Namespaced: true}},
		})
		return
	}
	mediaType, _, _ := strings.Cut(request.Header.Get("Accept"), ",")
	r, ok := p.recordings[mediaType]
	if !ok {
		http.Error(w, "there is no recording of it", http.StatusNotAcceptable)
		return
	}
	query := request.URL.Query()
	switch {
	case !query.Has("watch"):
		http.Error(w, "lists are streamed", http.StatusBadRequest)
		return
	case r.mediaType == runtime.ContentTypeProtobuf:
		w.Header().Set("Content-Type", r.mediaType+";stream=watch")
	default:
		w.Header().Set("Content-Type", r.mediaType)
	}
	flush := http.NewResponseController(w)
	if query.Has("sendInitialEvents") {
		for _, data := range r.initial {
			if _, err := w.Write(data); err != nil {
				return
			}
		}
	}
	for flush.Flush() == nil && len(r.events) > 0 {
		for _, data := range r.events {
			if _, err := w.Write(data); err != nil {
				return
			}
		}
	}
	<-request.Context().Done()
}
