package tracing_test

import (
	"testing"

	"github.com/go-logr/logr"
	"go.uber.org/goleak"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/klog/v2"
)

func TestMain(m *testing.M) {
	// Failures are reported on purpose here. The handlers of apimachinery would
	// log them, and wait in between by a clock that bubbles do not share.
	utilruntime.ErrorHandlers = nil
	klog.SetLogger(logr.Discard())
	goleak.VerifyTestMain(m)
}
