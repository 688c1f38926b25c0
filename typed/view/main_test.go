package view_test

import (
	"context"
	"testing"

	"go.uber.org/goleak"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
)

func TestMain(m *testing.M) {
	utilruntime.ErrorHandlers = nil // objects are rejected on purpose, and the default ones wait
	goleak.VerifyTestMain(m)
}

func contextOf(t *testing.T) (context.Context, context.CancelFunc) {
	t.Helper()
	return context.WithCancel(t.Context())
}
