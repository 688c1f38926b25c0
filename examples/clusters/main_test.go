package main

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"go.uber.org/goleak"

	"github.com/kubetyped/informer/examples/internal/demo/demotest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestCountInTwoClusters(t *testing.T) {
	assert.Equal(t, "east: 3 Pods of web\nwest: 3 Pods of web\n", demotest.Output(t, both))
}
