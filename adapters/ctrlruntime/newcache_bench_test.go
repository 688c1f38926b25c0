package ctrlruntime_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"io"
	"net/http"
	"runtime"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	k8sruntime "k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer/protobuf"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	toolscache "k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/cache"

	"github.com/kubetyped/informer/adapters/ctrlruntime"
	"github.com/kubetyped/informer/internal/test/pods"
	"github.com/kubetyped/informer/typed/kube"
)

// recorded is a transport that answers what a server has said, in protobuf: a list of
// Pods, and a watch whose events the benchmark writes.
type recorded struct {
	list  []byte
	watch io.Reader
}

func (r *recorded) RoundTrip(request *http.Request) (*http.Response, error) {
	answer := &http.Response{
		StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {k8sruntime.ContentTypeProtobuf}}, Request: request,
	}
	switch query := request.URL.Query(); {
	case query.Get("sendInitialEvents") != "":
		answer.StatusCode, answer.Body = http.StatusUnprocessableEntity, http.NoBody
	case query.Get("watch") != "":
		answer.Header.Set("Content-Type", k8sruntime.ContentTypeProtobuf+";stream=watch")
		answer.Body = io.NopCloser(r.watch)
	default:
		answer.Body = io.NopCloser(bytes.NewReader(r.list))
	}
	return answer, nil
}

func encoded(b *testing.B, obj k8sruntime.Object) []byte {
	b.Helper()
	var out bytes.Buffer
	require.NoError(b, protobuf.NewSerializer(scheme.Scheme, scheme.Scheme).Encode(obj, &out))
	return out.Bytes()
}

// listOf returns a list in protobuf.
func listOf(b *testing.B, cluster pods.Cluster, size int) []byte {
	b.Helper()
	list := &corev1.PodList{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "PodList"}, ListMeta: metav1.ListMeta{ResourceVersion: "1"}}
	for i := range size {
		list.Items = append(list.Items, *cluster.Pod(i, 1))
	}
	return encoded(b, list)
}

// updateOf returns an event of a watch in protobuf.
func updateOf(b *testing.B, pod *corev1.Pod) []byte {
	b.Helper()
	pod.TypeMeta = metav1.TypeMeta{APIVersion: "v1", Kind: "Pod"}
	event, err := (&metav1.WatchEvent{Type: "MODIFIED", Object: k8sruntime.RawExtension{Raw: encoded(b, pod)}}).Marshal()
	require.NoError(b, err)
	return append(binary.BigEndian.AppendUint32(nil, uint32(len(event))), event...)
}

// BenchmarkManagerCache measures an update of a Pod in a manager's cache, from the bytes
// to a handler, and what the cache holds for each Pod.
func BenchmarkManagerCache(b *testing.B) {
	const size, changing, updates = 5000, 1000, 16_000
	cluster := pods.Cluster{Namespaces: []string{"shop", "db"}, Nodes: 100}
	frames := make([][]byte, updates)
	for i := range frames {
		frames[i] = updateOf(b, cluster.Pod(i%changing, 2+i/changing)) // another state each time
	}
	for _, side := range []struct {
		name     string
		newCache cache.NewCacheFunc
	}{
		{"controller-runtime", cache.New},
		{"decoding", ctrlruntime.NewCache()},
		{"sharing", ctrlruntime.NewCache(ctrlruntime.WithDeduplication())},
		{"sharing-without-managedFields", ctrlruntime.NewCache(ctrlruntime.WithDeduplication(), ctrlruntime.ForAllKinds(kube.WithoutFields("metadata.managedFields")))},
	} {
		b.Run("impl="+side.name, func(b *testing.B) {
			watch, events := io.Pipe()
			server := &recorded{listOf(b, cluster, size), watch}
			before := heap()
			ctx, cancel := context.WithCancel(b.Context())
			var running sync.WaitGroup
			updated := make(chan struct{}, updates)
			made, err := side.newCache(&rest.Config{Host: "http://recorded", Transport: server}, cache.Options{Mapper: podMapper()})
			require.NoError(b, err)
			running.Go(func() {
				if err := made.Start(ctx); err != nil {
					b.Error(err)
				}
			})
			defer running.Wait()
			defer events.Close()
			defer cancel()
			informer, err := made.GetInformer(ctx, &corev1.Pod{})
			require.NoError(b, err)
			_, err = informer.AddEventHandler(toolscache.ResourceEventHandlerFuncs{UpdateFunc: func(any, any) { updated <- struct{}{} }})
			require.NoError(b, err)
			require.True(b, made.WaitForCacheSync(ctx))
			held := heap() - before
			b.ReportAllocs()
			for n := 0; b.Loop(); n++ {
				if _, err := events.Write(frames[n%updates]); err != nil {
					b.Fatal(err)
				}
				<-updated
			}
			b.ReportMetric(float64(held)/size, "held-B/Pod")
			runtime.KeepAlive(server)
		})
	}
}

// heap returns how many bytes are held.
func heap() int64 {
	var m runtime.MemStats
	for range 3 {
		runtime.GC()
	}
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

func podMapper() meta.RESTMapper {
	mapper := meta.NewDefaultRESTMapper([]schema.GroupVersion{corev1.SchemeGroupVersion})
	mapper.Add(podKind, meta.RESTScopeNamespace)
	return mapper
}
