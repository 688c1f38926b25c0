package lister_test

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/kubetyped/informer/index"
	"github.com/kubetyped/informer/lister"
)

// Call sites of generated listers stay as they are.
func ExampleLister() {
	store := index.NewIndexer[*corev1.Pod]()
	pod := func(name, app string) *corev1.Pod {
		return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: name, Labels: map[string]string{"app": app}}}
	}
	store.Replace(nil, []*corev1.Pod{pod("web-0", "web"), pod("web-1", "web"), pod("db-0", "db")}, "1", index.Relisted)
	pods := lister.ForResource(store, corev1.Resource("pods")) // a program passes an informer instead

	web, err := pods.List(labels.SelectorFromSet(labels.Set{"app": "web"}))
	fmt.Println(len(web), err)

	_, err = pods.Namespace("shop").Get("cache-0")
	fmt.Println(apierrors.IsNotFound(err), err)
	// Output:
	// 2 <nil>
	// true pods "cache-0" not found
}
