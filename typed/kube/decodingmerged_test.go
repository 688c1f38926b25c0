package kube_test

import (
	"context"
	"errors"
	"reflect"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"

	"github.com/kubetyped/informer/apitest"
	"github.com/kubetyped/informer/index"
	"github.com/kubetyped/informer/typed/kube"
)

// namespaces lists and watches the Pods of several namespaces, by a request each.
type namespaces struct {
	clientset kubernetes.Interface
	names     []string
	// late is closed when all but the first watch are to be opened; nil: at once.
	late chan struct{}
}

func (n *namespaces) list(ctx context.Context, opts metav1.ListOptions) (runtime.Object, error) {
	all := &corev1.PodList{}
	for _, name := range n.names {
		some, err := n.clientset.CoreV1().Pods(name).List(ctx, opts)
		if err != nil {
			return nil, err
		}
		all.TypeMeta, all.ListMeta, all.Items = some.TypeMeta, some.ListMeta, append(all.Items, some.Items...)
	}
	return all, nil
}

func (n *namespaces) watch(ctx context.Context, opts metav1.ListOptions) (watch.Interface, error) {
	events := make(chan watch.Event)
	merged := watch.NewProxyWatcher(events)
	var passing sync.WaitGroup
	open := func(name string) error {
		one, err := n.clientset.CoreV1().Pods(name).Watch(ctx, opts)
		if err != nil {
			return err
		}
		passing.Go(func() {
			defer one.Stop()
			for {
				select {
				case event, ok := <-one.ResultChan():
					if !ok {
						return
					}
					select {
					case events <- event:
					case <-merged.StopChan():
						return
					}
				case <-merged.StopChan():
					return
				}
			}
		})
		return nil
	}
	err := open(n.names[0])
	rest := func() {
		for _, name := range n.names[1:] {
			err = errors.Join(err, open(name))
		}
	}
	if n.late == nil {
		rest()
	} else {
		passing.Go(func() {
			select {
			case <-n.late:
				rest()
			case <-merged.StopChan():
			}
		})
	}
	go func() {
		passing.Wait()
		close(events)
	}()
	return merged, err
}

// decodingOf returns what decodes the Pods of namespaces here, of which each has two.
func decodingOf(t *testing.T, contentType string, n *namespaces) (*apitest.Server, *kube.DecodingListerWatcher) {
	t.Helper()
	srv := apitest.Start(t)
	for _, name := range n.names {
		for _, pod := range []*corev1.Pod{tolerant("a"), tolerant("b")} {
			pod.Namespace = name
			require.NoError(t, srv.Create(t.Context(), pod))
		}
	}
	config := srv.Config()
	config.ContentType = contentType
	config.WrapTransport = kube.DecodingTransport
	clientset, err := kubernetes.NewForConfig(config)
	require.NoError(t, err)
	n.clientset = clientset
	lw, err := kube.NewDecodingListerWatcher(&cache.ListWatch{ListWithContextFunc: n.list, WatchFuncWithContext: n.watch},
		&corev1.Pod{}, podKind, func(index.Key) (metav1.Object, bool) { return nil, false })
	require.NoError(t, err)
	t.Cleanup(lw.Wait)
	return srv, lw
}

// versionOfList lists, and returns the version of the list when it has so many objects.
func versionOfList(t *testing.T, lw *kube.DecodingListerWatcher, length int) string {
	t.Helper()
	list, err := lw.ListWithContext(t.Context(), metav1.ListOptions{})
	require.NoError(t, err)
	require.Equal(t, length, meta.LenList(list))
	accessor, err := meta.ListAccessor(list)
	require.NoError(t, err)
	return accessor.GetResourceVersion()
}

// createIn makes another Pod in a namespace.
func createIn(t *testing.T, srv *apitest.Server, namespace, name string) {
	t.Helper()
	pod := tolerant(name)
	pod.Namespace = namespace
	require.NoError(t, srv.Create(t.Context(), pod))
}

// TestDecodingMergedRequests: what is made of several requests is all that it is made of:
// lists, watches that begin together, and watches of which some begin later.
func TestDecodingMergedRequests(t *testing.T) {
	t.Parallel()
	for name, contentType := range map[string]string{"JSON": runtime.ContentTypeJSON, "protobuf": runtime.ContentTypeProtobuf} {
		t.Run("lists in "+name, func(t *testing.T) {
			t.Parallel()
			_, lw := decodingOf(t, contentType, &namespaces{names: []string{"a", "b", "c"}})
			versionOfList(t, lw, 6)
			versionOfList(t, lw, 6)
		})
		t.Run("one list in "+name, func(t *testing.T) {
			t.Parallel()
			_, lw := decodingOf(t, contentType, &namespaces{names: []string{"a"}})
			versionOfList(t, lw, 2)
			list, err := lw.List(metav1.ListOptions{})
			require.NoError(t, err)
			assert.NotEqual(t, reflect.TypeFor[*corev1.PodList](), reflect.TypeOf(list), "it is decoded here")
		})
	}
	t.Run("watches", func(t *testing.T) {
		t.Parallel()
		srv, lw := decodingOf(t, runtime.ContentTypeJSON, &namespaces{names: []string{"a", "b"}})
		w, err := lw.WatchWithContext(t.Context(), metav1.ListOptions{ResourceVersion: srv.ResourceVersion()})
		require.NoError(t, err)
		defer w.Stop()
		for _, namespace := range []string{"a", "b", "a"} {
			createIn(t, srv, namespace, "more-"+srv.ResourceVersion())
			event := <-w.ResultChan()
			require.Equal(t, watch.Added, event.Type)
			assert.Equal(t, namespace, event.Object.(*corev1.Pod).Namespace)
		}
	})
	t.Run("a watch that begins later", func(t *testing.T) {
		t.Parallel()
		n := &namespaces{names: []string{"a", "b"}, late: make(chan struct{})}
		srv, lw := decodingOf(t, runtime.ContentTypeJSON, n)
		w, err := lw.WatchWithContext(t.Context(), metav1.ListOptions{ResourceVersion: srv.ResourceVersion()})
		require.NoError(t, err)
		defer w.Stop()
		createIn(t, srv, "a", "c")
		require.Equal(t, watch.Added, (<-w.ResultChan()).Type)
		close(n.late)
		event := <-w.ResultChan()
		require.Equal(t, watch.Error, event.Type, "nobody knows what the other one brings")
		require.ErrorContains(t, apierrors.FromObject(event.Object), "makes several requests for one watch")
		_, more := <-w.ResultChan()
		assert.False(t, more)
		version := versionOfList(t, lw, 5)
		again, err := lw.WatchWithContext(t.Context(), metav1.ListOptions{ResourceVersion: version})
		require.NoError(t, err)
		defer again.Stop()
		createIn(t, srv, "b", "c")
		assert.Equal(t, "b", (<-again.ResultChan()).Object.(*corev1.Pod).Namespace)
	})
}

// TestDecodingOfAddedObjects: an object that a ListerWatcher adds to those of a response is in
// the list.
func TestDecodingOfAddedObjects(t *testing.T) {
	t.Parallel()
	n := &namespaces{names: []string{"a"}}
	decodingOf(t, runtime.ContentTypeJSON, n)
	lw, err := kube.NewDecodingListerWatcher(&cache.ListWatch{
		ListWithContextFunc: func(ctx context.Context, opts metav1.ListOptions) (runtime.Object, error) {
			list, err := n.list(ctx, opts)
			if err == nil {
				list.(*corev1.PodList).Items = append(list.(*corev1.PodList).Items, *tolerant("static"))
			}
			return list, err
		},
		WatchFuncWithContext: n.watch,
	}, &corev1.Pod{}, podKind, nil)
	require.NoError(t, err)
	versionOfList(t, lw, 3)
}
