package adapters_test

import (
	"context"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"

	"github.com/kubetyped/informer/adapters/dynamicinformer"
	"github.com/kubetyped/informer/adapters/informers"
	"github.com/kubetyped/informer/adapters/metadatainformer"
	"github.com/kubetyped/informer/apitest"
	"github.com/kubetyped/informer/typed/kube"
)

// writingDropIns make informers of Pods that take own writes; the content type is that of the
// client that writes.
var writingDropIns = map[string]struct {
	contentType string
	of          func(t *testing.T, config *rest.Config, writes *kube.Writes) cache.SharedIndexInformer
	without     string // the same of dropIns, without own writes
}{
	"informers": {runtime.ContentTypeProtobuf, func(t *testing.T, config *rest.Config, writes *kube.Writes) cache.SharedIndexInformer {
		return informers.NewSharedInformerFactoryWithOptions(clientsetOf(t, config), 0, informers.WithOwnWrites(writes)).Core().V1().Pods().Informer()
	}, "informers"},
	"informers that share parts": {runtime.ContentTypeJSON, func(t *testing.T, config *rest.Config, writes *kube.Writes) cache.SharedIndexInformer {
		return informers.NewSharedInformerFactoryWithOptions(clientsetOf(t, config), 0, informers.WithOwnWrites(writes), informers.WithDeduplication()).Core().V1().Pods().Informer()
	}, "informers"},
	"informers, packed": {runtime.ContentTypeJSON, func(t *testing.T, config *rest.Config, writes *kube.Writes) cache.SharedIndexInformer {
		return informers.NewSharedInformerFactoryWithOptions(clientsetOf(t, config), 0, informers.WithOwnWrites(writes), informers.WithPacked()).Core().V1().Pods().Informer()
	}, "informers"},
	"dynamicinformer, packed":  {runtime.ContentTypeJSON, dynamicWriting(dynamicinformer.WithPacked()), "dynamicinformer"},
	"metadatainformer, packed": {runtime.ContentTypeProtobuf, metadataWriting(metadatainformer.WithPacked()), "metadatainformer"},
	"dynamicinformer":          {runtime.ContentTypeJSON, dynamicWriting(), "dynamicinformer"},
	"dynamicinformer that shares parts": {
		runtime.ContentTypeJSON, dynamicWriting(dynamicinformer.WithDeduplication()), "dynamicinformer",
	},
	"metadatainformer":              {runtime.ContentTypeProtobuf, metadataWriting(), "metadatainformer"},
	"metadatainformer of JSON":      {runtime.ContentTypeJSON, metadataWriting(), "metadatainformer"},
	"metadatainformer, transformed": {runtime.ContentTypeProtobuf, metadataWriting(metadatainformer.WithTransform(same)), "metadatainformer"},
	"metadatainformer that shares parts": {
		runtime.ContentTypeProtobuf, metadataWriting(metadatainformer.WithDeduplication()), "metadatainformer",
	},
}

func dynamicWriting(opts ...dynamicinformer.SharedInformerOption) func(*testing.T, *rest.Config, *kube.Writes) cache.SharedIndexInformer {
	return func(t *testing.T, config *rest.Config, writes *kube.Writes) cache.SharedIndexInformer {
		config.Wrap(kube.DecodingTransport)
		client, err := dynamic.NewForConfig(config)
		require.NoError(t, err)
		return dynamicinformer.NewDynamicSharedInformerFactoryWithOptions(client, 0, append(opts, dynamicinformer.WithOwnWrites(writes))...).ForResource(podResource).Informer()
	}
}

func metadataWriting(opts ...metadatainformer.SharedInformerOption) func(*testing.T, *rest.Config, *kube.Writes) cache.SharedIndexInformer {
	return func(t *testing.T, config *rest.Config, writes *kube.Writes) cache.SharedIndexInformer {
		config.Wrap(kube.DecodingTransport)
		client, err := metadata.NewForConfig(config)
		require.NoError(t, err)
		return metadatainformer.NewSharedInformerFactoryWithOptions(client, 0, append(opts, metadatainformer.WithOwnWrites(writes))...).ForResource(podResource).Informer()
	}
}

// stated is a handler that records the state of each call.
type stated struct {
	mu    sync.Mutex
	calls []string // guarded by mu
}

func (s *stated) add(call string, obj any) {
	if gone, ok := obj.(cache.DeletedFinalStateUnknown); ok {
		obj = gone.Obj
	}
	of := obj.(metav1.Object)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.calls = append(s.calls, call+" "+of.GetName()+" "+of.GetResourceVersion())
}

func (s *stated) OnAdd(obj any, _ bool) { s.add("add", obj) }
func (s *stated) OnUpdate(old, obj any) {
	if old.(metav1.Object).GetResourceVersion() != obj.(metav1.Object).GetResourceVersion() { // as after lists
		s.add("update", obj)
	}
}
func (s *stated) OnDelete(obj any) { s.add("delete", obj) }

func (s *stated) take() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	calls := s.calls
	s.calls = nil
	slices.Sort(calls)
	return calls
}

// TestOwnWritesDuringRelist: an object that is written while a list is on its way, streamed or not, is in
// the store when the write returns, as the watch would have it; the list takes nothing back,
// and handlers are called once for each state.
func TestOwnWritesDuringRelist(t *testing.T) {
	for name, form := range writingDropIns {
		for _, streamed := range []bool{true, false} {
			t.Run(name+map[bool]string{true: " streamed", false: " listed"}[streamed], func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					testOwnWritesDuringRelist(t, form.contentType, form.of, dropIns[form.without], streamed)
				})
			})
		}
	}
}

func testOwnWritesDuringRelist(t *testing.T, contentType string, of func(*testing.T, *rest.Config, *kube.Writes) cache.SharedIndexInformer, without func(*testing.T, *rest.Config) cache.SharedIndexInformer, streamed bool) {
	srv := apitest.Start(t, apitest.WithObjects(pod("kept", ""), pod("changed", ""), pod("gone", "")))
	writes, base := kube.NewWrites(), srv.Config()
	base.ContentType, base.UserAgent = contentType, "own"
	if !streamed {
		base.Wrap(unstreamed)
	}
	config := writes.Config(base)
	api := clientsetOf(t, config).CoreV1().Pods("ns")
	informer, reference := of(t, rest.CopyConfig(config), writes), without(t, srv.Config())
	var calls stated
	_, err := informer.AddEventHandler(&calls)
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(context.Background())
	var running sync.WaitGroup
	running.Go(func() { informer.RunWithContext(ctx) })
	running.Go(func() { reference.RunWithContext(ctx) })
	defer running.Wait()
	defer cancel()
	require.True(t, cache.WaitForCacheSync(ctx.Done(), informer.HasSynced, reference.HasSynced))
	synctest.Wait()
	calls.take()

	for _, verb := range []string{"list", "watch"} {
		defer srv.Inject(apitest.Fault{Verb: verb, Resource: "pods", UserAgent: "own", Way: apitest.Answers, Latency: 20 * time.Second}).Remove()
	}
	require.Equal(t, 1, srv.Inject(apitest.Fault{Resource: "pods", UserAgent: "own", Open: true, Err: apierrors.NewResourceExpired("too old")}).Met())
	time.Sleep(25 * time.Second) // the error is there, and a list on its way
	made, err := api.Create(ctx, pod("new", ""), metav1.CreateOptions{})
	require.NoError(t, err)
	changed, err := api.Patch(ctx, "changed", types.MergePatchType, []byte(`{"metadata":{"labels":{"x":"y"}}}`), metav1.PatchOptions{})
	require.NoError(t, err)
	require.NoError(t, api.Delete(ctx, "gone", metav1.DeleteOptions{}))
	synctest.Wait()
	before := podsByName(informer)
	require.Equal(t, podsByName(reference), before, "it has them as the watch of another brings them")
	want := []string{"add new " + made.ResourceVersion, "update changed " + changed.ResourceVersion}
	said := calls.take()
	require.Len(t, said, 3)
	assert.Subset(t, said, want)
	assert.True(t, strings.HasPrefix(said[1], "delete gone "))

	time.Sleep(5 * time.Minute)
	synctest.Wait()
	assert.Equal(t, before, podsByName(informer))
	assert.Empty(t, calls.take(), "once for each state")
	assert.Empty(t, writes.Status().LeftOut)
	assert.EqualValues(t, 3, writes.Status().Taken)
}

// unstreamed refuses to stream lists, as servers that cannot.
func unstreamed(base http.RoundTripper) http.RoundTripper {
	return roundTripper(func(r *http.Request) (*http.Response, error) {
		if r.URL.Query().Has("sendInitialEvents") {
			return answerOf(http.StatusUnprocessableEntity, strings.NewReader(`{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"Invalid","code":422}`)), nil
		}
		return base.RoundTrip(r)
	})
}

// podsByName returns the objects of an informer by their names.
func podsByName(informer cache.SharedIndexInformer) map[string]any {
	all := map[string]any{}
	for _, obj := range informer.GetStore().List() {
		all[obj.(metav1.Object).GetName()] = obj
	}
	return all
}
