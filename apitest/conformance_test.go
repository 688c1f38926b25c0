package apitest_test

import (
	"context"
	"testing"

	"github.com/kubetyped/informer/apitest"
	"github.com/kubetyped/informer/internal/test/conformance"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

var widgets = schema.GroupVersionResource{Group: "example.com", Version: "v1", Resource: "widgets"}

func TestConformance(t *testing.T) {
	custom := apitest.WithResources(apitest.Resource{GroupVersionResource: widgets, Kind: "Widget", Status: true, Scale: true})
	namespace := apitest.WithObjects(&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "conformance"}})
	for name, opts := range map[string][]apitest.Option{
		"WatchList":        {custom, apitest.WithNamespaceLifecycle(), namespace},
		"WithoutWatchList": {custom, apitest.WithoutWatchList()},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel() // each check has its own server
			conformance.TestServer(t, func(t *testing.T) conformance.Rig {
				s := apitest.Start(t, opts...)
				return conformance.Rig{
					Config: s.Config(), Namespace: "conformance",
					CustomResource: widgets, CustomKind: "Widget",
					Compact:            func(context.Context) error { s.Compact(); return nil },
					WithoutWatchList:   name == "WithoutWatchList",
					NamespaceLifecycle: name == "WatchList",
				}
			})
		})
	}
}
