package adapters_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/cache"

	"github.com/kubetyped/informer/adapters"
	"github.com/kubetyped/informer/index"
)

func TestIndexOfClientGosFunction(t *testing.T) {
	store := index.NewIndexer[*corev1.Pod]()
	byNamespace := adapters.Index[*corev1.Pod]("by namespace", cache.MetaNamespaceIndexFunc)
	picky := adapters.Index[*corev1.Pod]("picky", func(obj any) ([]string, error) {
		if obj.(*corev1.Pod).Name == "bad" {
			return nil, errors.New("it is bad")
		}
		return nil, nil
	})
	require.NoError(t, store.AddIndexes(byNamespace, picky))
	store.Apply(nil, []index.Change[*corev1.Pod]{{Object: pod("a", "1")}}, "1")
	assert.Len(t, byNamespace.Get("ns"), 1)
	assert.PanicsWithError(t, `unable to calculate an index entry for key "ns/bad" on index "picky": it is bad`, func() {
		store.Apply(nil, []index.Change[*corev1.Pod]{{Object: pod("bad", "2")}}, "2")
	})
	assert.Equal(t, 1, store.Len())
	assert.ErrorContains(t, store.AddIndexes(adapters.Index[*corev1.Pod]("none", nil)), "no function")
}

func TestIndexFuncOfATypedFunction(t *testing.T) {
	f := adapters.IndexFunc(func(pod *corev1.Pod) []string { return []string{pod.Name} })
	values, err := f(pod("a", "1"))
	require.NoError(t, err)
	assert.Equal(t, []string{"a"}, values)
	_, err = f(&metav1.ObjectMeta{Name: "a"})
	assert.ErrorContains(t, err, "type is *v1.ObjectMeta, want *v1.Pod")
	_, err = f(nil)
	assert.Error(t, err)
	assert.Nil(t, adapters.IndexFunc[*corev1.Pod](nil))
}

func ExampleIndex() {
	byNode := adapters.Index[*corev1.Pod]("node", nodeOf) // a cache.IndexFunc
	store := index.NewIndexer[*corev1.Pod]()
	if err := store.AddIndexes(byNode); err != nil {
		panic(err)
	}
	web := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "web"}, Spec: corev1.PodSpec{NodeName: "node-1"}}
	store.Replace(nil, []*corev1.Pod{web}, "1", index.Initial)
	for pod := range byNode.All("node-1") {
		fmt.Println(pod.Name)
	}
	// Output: web
}

func ExampleIndexFunc() {
	store := cache.NewIndexer(cache.MetaNamespaceKeyFunc, cache.Indexers{
		"node": adapters.IndexFunc(func(pod *corev1.Pod) []string { return []string{pod.Spec.NodeName} }),
	})
	web := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "web"}, Spec: corev1.PodSpec{NodeName: "node-1"}}
	fmt.Println(store.Add(web), store.ListIndexFuncValues("node"))
	// Output: <nil> [node-1]
}
