package typedtest_test

import (
	"context"
	"testing"

	"github.com/kubetyped/informer/internal/conformance"
	"github.com/kubetyped/informer/typed/typedtest"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

var widgets = schema.GroupVersionResource{Group: "example.com", Version: "v1", Resource: "widgets"}

func TestConformance(t *testing.T) {
	custom := typedtest.WithResources(typedtest.Resource{GroupVersionResource: widgets, Kind: "Widget", Status: true})
	for name, opts := range map[string][]typedtest.Option{
		"WatchList":        {custom, typedtest.WithCBOR()},
		"WithoutWatchList": {custom, typedtest.WithoutWatchList()},
	} {
		t.Run(name, func(t *testing.T) {
			conformance.TestServer(t, func(t *testing.T) conformance.Rig {
				s := typedtest.Start(t, opts...)
				return conformance.Rig{
					Config: s.Config(), Namespace: "conformance",
					CustomResource: widgets, CustomKind: "Widget",
					Compact:          func(context.Context) error { s.Compact(); return nil },
					WithoutWatchList: name == "WithoutWatchList",
					CBOR:             name == "WatchList",
				}
			})
		})
	}
}
