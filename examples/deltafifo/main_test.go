package main

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/assert"
	"go.uber.org/goleak"

	"github.com/kubetyped/informer/apitest"
	"github.com/kubetyped/informer/examples/internal/demo"
	"github.com/kubetyped/informer/examples/internal/demo/demotest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestQueueAndStore(t *testing.T) {
	out := demotest.OutputOfChange(t, run, "Added web-2", func(ctx context.Context, srv *apitest.Server) error {
		return errors.Join(srv.Create(ctx, demo.Pod("late", "node-b", "10.0.0.4")), srv.Delete(ctx, demo.Pod("late", "", "")))
	}, "Deleted late")
	assert.Contains(t, out, "Added web-2, 3 in the store\nAdded late, 4 in the store\nUpdated late, 4 in the store\nDeleted late, 3 in the store\n")
}
