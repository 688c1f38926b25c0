package informers_test

import (
	"testing"

	"go.uber.org/goleak"
	"k8s.io/client-go/tools/cache"
)

func TestMain(m *testing.M) {
	cache.SetInformerMetricsProvider(&measured)
	goleak.VerifyTestMain(m)
}
