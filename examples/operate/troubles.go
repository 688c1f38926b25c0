package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubetyped/informer/apitest"
)

// numberOfPods is how many Pods the cluster has.
const numberOfPods = 500

// newCluster starts an API server in memory. It has large ConfigMaps, which contain reports,
// and denies the right to read Secrets.
func newCluster(ctx context.Context) (*apitest.Server, error) {
	var all []apitest.Object
	for i := range numberOfPods {
		all = append(all, newPod(i, 0))
	}
	for i := range 40 {
		all = append(all, &corev1.Service{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: fmt.Sprintf("service-%02d", i)}})
	}
	all = append(all, &corev1.Service{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "checkout"}})
	for i := range 20 {
		all = append(all, &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("node-%02d", i)}})
	}
	for i := range 200 {
		all = append(all, newReport(i))
	}
	srv, err := apitest.NewServer(apitest.WithObjects(all...))
	if err != nil {
		return nil, err
	}
	denied := apierrors.NewForbidden(schema.GroupResource{Resource: "secrets"}, "",
		errors.New(`user "system:serviceaccount:shop:operate" cannot list resource "secrets" in API group "" at the cluster scope`))
	for _, verb := range []string{"list", "watch"} {
		srv.Inject(apitest.Fault{Verb: verb, Resource: "secrets", Err: denied})
	}
	return srv, ctx.Err()
}

// newReport returns a ConfigMap with 100 KB of text.
func newReport(i int) *corev1.ConfigMap {
	text := make([]byte, 100_000)
	for at := range text {
		text[at] = 'a' + byte(rand.N(26))
	}
	return &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{Namespace: "reports", Name: fmt.Sprintf("report-%03d", i)},
		Data:       map[string]string{"report.csv": string(text)},
	}
}

func newPod(i, version int) *corev1.Pod {
	return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{
		Namespace: "shop", Name: fmt.Sprintf("web-%03d", i),
		Labels:      map[string]string{"app": "web"},
		Annotations: map[string]string{"version": fmt.Sprint(version)},
	}}
}

// change changes some Pods a second until ctx ends.
func change(ctx context.Context, srv *apitest.Server) error {
	ticker := time.NewTicker(100 * time.Millisecond)
	defer ticker.Stop()
	for version := 1; ; version++ {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-ticker.C:
		}
		if err := srv.Update(ctx, newPod(rand.N(numberOfPods), version)); err != nil {
			return err
		}
	}
}
