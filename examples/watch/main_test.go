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

func TestWatch(t *testing.T) {
	out := demotest.OutputOfChange(t, run, "+ web-2", func(ctx context.Context, srv *apitest.Server) error {
		return errors.Join(srv.Create(ctx, demo.Pod("late", "node-b", "10.0.0.4"), demo.Pod("elsewhere", "node-a", "10.0.0.5")),
			srv.Delete(ctx, demo.Pod("late", "", "")))
	}, "- late\n")
	assert.Regexp(t, `^\+ web-2 on node-b\n\+ late on node-b\n~ late \d+ -> \d+\n- late\n$`, out)
}
