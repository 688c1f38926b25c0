package lister_test

import (
	"context"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	corev1listers "k8s.io/client-go/listers/core/v1"
	"k8s.io/client-go/tools/cache"

	"github.com/kubetyped/informer/index"
	"github.com/kubetyped/informer/internal/test/sinktest"
	"github.com/kubetyped/informer/lister"
	"github.com/kubetyped/informer/typed"
	"github.com/kubetyped/informer/typed/source"
)

// namespaceLister is the common interface of the listers of one namespace, ours and client-go's.
type namespaceLister interface {
	List(labels.Selector) ([]*corev1.Pod, error)
	Get(name string) (*corev1.Pod, error)
}

// podLister is a lister of Pods under test.
type podLister struct {
	list      func(labels.Selector) ([]*corev1.Pod, error)
	namespace func(string) namespaceLister
}

// eachLister runs a test on a lister that lister-gen made, which says what is
// right, and on ours over everything that can be read from.
func eachLister(t *testing.T, pods []*corev1.Pod, test func(t *testing.T, l podLister)) {
	ours := func(from index.Reader[*corev1.Pod]) podLister {
		l := lister.New(from)
		return podLister{l.List, func(ns string) namespaceLister { return l.Namespace(ns) }}
	}
	for _, side := range []struct {
		name string
		make func(t *testing.T) podLister
	}{
		{"lister-gen", func(t *testing.T) podLister {
			l := corev1listers.NewPodLister(clientGo(t, pods...))
			return podLister{l.List, func(ns string) namespaceLister { return l.Pods(ns) }}
		}},
		{"typed", func(t *testing.T) podLister { return ours(storeOf(t, pods)) }},
		{"label index", func(t *testing.T) podLister {
			return ours(storeOf(t, pods, index.Labels[*corev1.Pod]("tier", "app")))
		}},
		{"two label indexes", func(t *testing.T) podLister {
			return ours(storeOf(t, pods, index.Labels[*corev1.Pod]("replica"), index.Labels[*corev1.Pod]("app")))
		}},
		{"snapshot", func(t *testing.T) podLister {
			store := storeOf(t, pods, index.Labels[*corev1.Pod]("app"))
			snapshot := store.Snapshot()
			store.Release()
			return ours(snapshot)
		}},
		{"informer", func(t *testing.T) podLister { return ours(running(t, pods)) }},
	} {
		t.Run(side.name, func(t *testing.T) { test(t, side.make(t)) })
	}
}

// clientGo returns an indexer as shared informers have it.
func clientGo[T any](t *testing.T, objs ...T) cache.Indexer {
	indexer := cache.NewIndexer(cache.MetaNamespaceKeyFunc, cache.Indexers{cache.NamespaceIndex: cache.MetaNamespaceIndexFunc})
	for _, obj := range objs {
		require.NoError(t, indexer.Add(obj))
	}
	return indexer
}

// storeOf returns a store that holds objs, with indexes.
func storeOf[T index.Object](t require.TestingT, objs []T, indexes ...index.Definition[T]) *index.Indexer[T] {
	store := index.NewIndexer[T]()
	require.NoError(t, store.AddIndexes(indexes...))
	store.Replace(nil, objs, "1", index.Initial)
	return store
}

// running returns an informer that holds pods, and stops it when t ends.
func running(t *testing.T, pods []*corev1.Pod) *typed.Informer[*corev1.Pod] {
	informer := typed.NewInformer(listed(pods))
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- informer.Run(ctx) }()
	t.Cleanup(func() {
		stop()
		require.NoError(t, <-ended)
	})
	require.NoError(t, informer.WaitForSync(ctx))
	return informer
}

// listed is a source that has these Pods, and no others ever.
type listed []*corev1.Pod

func (l listed) Run(ctx context.Context, sink source.Sink[*corev1.Pod]) error {
	sinktest.Replace(sink, "", slices.Clone(l), "1")
	<-ctx.Done()
	return nil
}

// pod returns a Pod with labels.
func pod(namespace, name string, set labels.Set) *corev1.Pod {
	return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name, Labels: set}}
}

// shops are the Pods that most tests read.
func shops() []*corev1.Pod {
	return []*corev1.Pod{
		pod("north", "web-0", labels.Set{"app": "web", "tier": "front", "replica": "0"}),
		pod("north", "web-1", labels.Set{"app": "web", "tier": "front", "replica": "1"}),
		pod("north", "db-0", labels.Set{"app": "db", "tier": "back", "replica": "0"}),
		pod("south", "web-0", labels.Set{"app": "web", "tier": "front", "replica": "12"}),
		pod("south", "blank", labels.Set{"app": "", "replica": "many"}),
		pod("south", "job-7", nil),
	}
}

// keys returns the sorted keys of pods.
func keys(pods []*corev1.Pod) []string {
	var keys []string
	for _, p := range pods {
		keys = append(keys, index.KeyOf(p).String())
	}
	slices.Sort(keys)
	return keys
}
