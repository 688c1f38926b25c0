package benchmarks

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net"
	"net/http"
	"strconv"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/kubetyped/informer/benchmarks/internal/cluster"
)

// keptContent is objects of one kind that processes keep.
type keptContent struct {
	name, mediaType string
	resource        schema.GroupVersionResource
	count           int // of objects in a list
	changed         int // of those that change
	rate            int // of changes a second, at which handlers keep up
	object          func(i, version int) runtime.Object
}

var keptContents = []keptContent{
	podsOf("pods50", 20_000, 50), podsOf("pods5", 20_000, 5), podsOf("pods1", 20_000, 1),
	{"configmaps", runtime.ContentTypeProtobuf, corev1.SchemeGroupVersion.WithResource("configmaps"), 20_000, keptPods, 1_000, configMap},
	{"custom", runtime.ContentTypeJSON, widgetResource, 2_000, 128, 50, widgets(600)},
	podsOf("pods200k", 200_000, 50),
}

// fewWidgets is a content for tests.
var fewWidgets = keptContent{"few", runtime.ContentTypeJSON, widgetResource, 40, 16, 200, widgets(6)}

func podsOf(name string, count, perApp int) keptContent {
	pods := cluster.New(count, perApp)
	return keptContent{
		name, runtime.ContentTypeProtobuf, podsResource, count, keptPods, 1_000,
		func(i, version int) runtime.Object { return pods.Whole(i, version) },
	}
}

func contentOf(name string) (keptContent, error) {
	for _, c := range append(keptContents, fewWidgets) {
		if c.name == name {
			return c, nil
		}
	}
	return keptContent{}, fmt.Errorf("there is no content %q", name)
}

// identity is the metadata of an object that is none of an application's Pods: 20 have an app.
func identity(i, version int) metav1.ObjectMeta {
	return metav1.ObjectMeta{
		Namespace: cluster.NamespaceName(i % 20), Name: fmt.Sprintf("%x-settings", uint32(i)*2654435761),
		UID: "00000000-0000-4000-8000-000000000000", ResourceVersion: strconv.Itoa(version*1_000_000 + i),
		Labels:            map[string]string{"app": fmt.Sprint("app-", i/20)},
		CreationTimestamp: metav1.Unix(1_700_000_000+int64(i), 0),
	}
}

// words returns text that no other object has.
func words(r *rand.Rand, size int) string {
	var text strings.Builder
	for text.Len() < size {
		fmt.Fprintf(&text, "%08x ", r.Uint32())
	}
	return text.String()[:size]
}

// configMap returns one that is unlike all others, of four kilobytes on average.
func configMap(i, version int) runtime.Object {
	r := rand.New(rand.NewPCG(uint64(i), 1))
	obj := &corev1.ConfigMap{ObjectMeta: identity(i, version), Data: map[string]string{"version": strconv.Itoa(version)}}
	size := min(int(r.ExpFloat64()*4_000), 900_000)
	for key := 0; size > 0; key++ {
		part := min(size, 1_500)
		obj.Data[fmt.Sprintf("%x.conf", r.Uint32())] = words(r, part)
		size -= part
	}
	return obj
}

var widgetResource = schema.GroupVersionResource{Group: "example.com", Version: "v1", Resource: "widgets"}

// widgets returns a function that makes custom resources, of 100 KB with 600 rules.
func widgets(rules int) func(i, version int) runtime.Object {
	return func(i, version int) runtime.Object { return widget(rules, i, version) }
}

func widget(size, i, version int) runtime.Object {
	r := rand.New(rand.NewPCG(uint64(i), 2))
	rules := make([]any, size)
	for n := range rules {
		rules[n] = map[string]any{
			"name": words(r, 24), "weight": int64(r.IntN(1000)), "enabled": n%3 > 0,
			"match": map[string]any{"path": "/" + words(r, 30), "method": "GET"},
		}
	}
	meta := identity(i, version)
	obj := &unstructured.Unstructured{Object: map[string]any{
		"spec":   map[string]any{"rules": rules},
		"status": map[string]any{"observed": int64(version)},
	}}
	obj.SetNamespace(meta.Namespace)
	obj.SetName(meta.Name)
	obj.SetUID(meta.UID)
	obj.SetResourceVersion(meta.ResourceVersion)
	obj.SetLabels(meta.Labels)
	return obj
}

// keptPlayer is a player of one content, that sends changes at a rate.
type keptPlayer struct {
	keptContent

	initial, changes [][]byte
	gap              time.Duration // between writes of changes
}

// serveKeptTask serves a content, all of it or changes alone.
func serveKeptTask(arguments []string, ready func(string)) error {
	content, err := contentOf(arguments[0])
	if err != nil {
		return err
	}
	p := &keptPlayer{keptContent: content}
	if err := p.record(arguments[1] == "changes"); err != nil {
		return err
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	server := &http.Server{Handler: p}
	go func() { _ = server.Serve(listener) }() // ends with the process
	ready("http://" + listener.Addr().String())
	return untilTold()
}

func (p *keptPlayer) record(changes bool) error {
	info, frames, err := newFrames(p.mediaType)
	if err != nil {
		return err
	}
	kind := map[string]string{"pods": "Pod", "configmaps": "ConfigMap", "widgets": "Widget"}[p.resource.Resource]
	add := func(t watch.EventType, obj runtime.Object) {
		obj.GetObjectKind().SetGroupVersionKind(p.resource.GroupVersion().WithKind(kind))
		frames.encode(info, t, obj)
	}
	if !changes {
		for i := range p.count {
			add(watch.Added, p.object(i, 1))
		}
	}
	end := &unstructured.Unstructured{Object: map[string]any{}}
	end.SetResourceVersion("1")
	end.SetAnnotations(map[string]string{metav1.InitialEventsAnnotationKey: "true"})
	var bookmark runtime.Object = end
	if p.mediaType == runtime.ContentTypeProtobuf {
		bookmark = &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{ResourceVersion: "1", Annotations: end.GetAnnotations()}}
	}
	add(watch.Bookmark, bookmark)
	p.initial = frames.writes()
	if !changes {
		return frames.err
	}
	for version := 2; version < 2+recordedVersions; version++ {
		for i := range p.changed {
			add(watch.Modified, p.object(i, version))
		}
	}
	p.changes = frames.writes()
	perWrite := p.changed * recordedVersions / len(p.changes)
	p.gap = time.Second * time.Duration(max(perWrite, 1)) / time.Duration(p.rate)
	return frames.err
}

// ServeHTTP implements http.Handler.
func (p *keptPlayer) ServeHTTP(w http.ResponseWriter, request *http.Request) {
	query := request.URL.Query()
	if !query.Has("watch") {
		http.Error(w, "lists are streamed", http.StatusBadRequest)
		return
	}
	w.Header().Set("Content-Type", p.mediaType)
	if p.mediaType == runtime.ContentTypeProtobuf {
		w.Header().Set("Content-Type", p.mediaType+";stream=watch")
	}
	flush := http.NewResponseController(w)
	for _, data := range p.initial {
		if _, err := w.Write(data); err != nil {
			return
		}
	}
	p.send(request.Context(), func(data []byte) error {
		_, err := w.Write(data)
		return err
	}, flush.Flush)
	<-request.Context().Done()
}

// send sends the changes again and again.
func (p *keptPlayer) send(ctx context.Context, write func([]byte) error, flush func() error) {
	next := time.Now()
	for flush() == nil && len(p.changes) > 0 {
		for _, data := range p.changes {
			select {
			case <-ctx.Done():
				return
			case <-time.After(time.Until(next)):
			}
			if write(data) != nil || flush() != nil {
				return
			}
			next = next.Add(p.gap)
		}
	}
}
