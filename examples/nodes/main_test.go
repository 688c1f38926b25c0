package main

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"go.uber.org/goleak"

	"github.com/kubetyped/informer/examples/internal/demo/demotest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestNodesOfAZone(t *testing.T) {
	assert.Equal(t, "node-a\nnode \"nobody\" not found\n", demotest.Output(t, run))
}
