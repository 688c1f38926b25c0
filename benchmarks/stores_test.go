package benchmarks

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/cache"

	"github.com/kubetyped/informer/index"
)

// typedStore returns a store that holds pods.
func typedStore(tb testing.TB, pods []*corev1.Pod, indexes ...index.Definition[*corev1.Pod]) *index.Indexer[*corev1.Pod] {
	store := index.NewIndexer[*corev1.Pod]()
	require.NoError(tb, store.AddIndexes(indexes...))
	store.Replace(nil, pods, "1", index.Initial)
	return store
}

// clientGoStore returns a store of client-go, with the key function of its
// informers, that holds pods.
func clientGoStore(tb testing.TB, pods []*corev1.Pod, indexers cache.Indexers) cache.Indexer {
	store := cache.NewIndexer(cache.DeletionHandlingMetaNamespaceKeyFunc, indexers)
	list := make([]any, len(pods))
	for i, pod := range pods {
		list[i] = pod
	}
	require.NoError(tb, store.Replace(list, "1"))
	return store
}

// keysOf returns the keys of pods in random order, in both forms, made of other strings than
// those of the Pods: the key of a lookup rarely comes from the object that is in the store now.
func keysOf(pods []*corev1.Pod) (keys []index.Key, joined []string) {
	for _, i := range rand.New(rand.NewPCG(7, 7)).Perm(len(pods)) {
		key := index.Key{Namespace: strings.Clone(pods[i].Namespace), Name: strings.Clone(pods[i].Name)}
		keys = append(keys, key)
		joined = append(joined, key.String())
	}
	return keys, joined
}
