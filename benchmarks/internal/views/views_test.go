package views_test

import (
	"testing"

	"go.uber.org/goleak"

	"github.com/kubetyped/informer/benchmarks/internal/views"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestViewsGiveTheSame(t *testing.T) {
	views.Check(t, views.Sides...)
}
