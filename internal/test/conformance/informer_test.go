package conformance_test

import (
	"context"
	"testing"
	"testing/synctest"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubetyped/informer/apitest"
	"github.com/kubetyped/informer/internal/test/conformance"
	"github.com/kubetyped/informer/internal/test/rig"
)

func TestMain(m *testing.M) { rig.Main(m) }

// TestConformance runs the suite of the promises that need a server. A real one
// is in e2e/conformance.
func TestConformance(t *testing.T) {
	widgets := schema.GroupVersionResource{Group: "example.com", Version: "v1", Resource: "widgets"}
	custom := apitest.WithResources(apitest.Resource{GroupVersionResource: widgets, Kind: "Widget", Status: true})
	for name, opts := range map[string][]apitest.Option{
		"WatchList":        {custom},
		"WithoutWatchList": {custom, apitest.WithoutWatchList()},
	} {
		t.Run(name, func(t *testing.T) {
			conformance.TestInformer(t, func(t *testing.T) conformance.Rig {
				s := apitest.Start(t, opts...)
				return conformance.Rig{
					Config: s.Config(), Namespace: "conformance",
					CustomResource: widgets, CustomKind: "Widget",
					Compact:          func(context.Context) error { s.Compact(); return nil },
					WithoutWatchList: name == "WithoutWatchList",
				}
			}, synctest.Test)
		})
	}
}
