package metrics_test

import (
	"testing"

	"go.uber.org/goleak"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
)

func TestMain(m *testing.M) {
	// Failures are reported on purpose here. The handlers of apimachinery would log them,
	// and wait in between by a clock that bubbles do not share.
	utilruntime.ErrorHandlers = nil
	goleak.VerifyTestMain(m)
}
