package main

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"go.uber.org/goleak"

	"github.com/kubetyped/informer/examples/internal/demo/demotest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestReadsAfterTheEnd(t *testing.T) {
	assert.Equal(t, `stopped: Stopped true
kind: /v1, Kind=Pod
released: true
`, demotest.Output(t, run))
}
