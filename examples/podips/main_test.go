package main

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"go.uber.org/goleak"

	"github.com/kubetyped/informer/examples/internal/demo/demotest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestOwnersOfAddresses(t *testing.T) {
	assert.Equal(t, `10.96.0.1: Service web
10.0.0.2: Pod web-1 of ReplicaSet web
fd00::3: Pod web-2 of ReplicaSet web
10.0.0.99: nobody
`, demotest.Output(t, run))
}
