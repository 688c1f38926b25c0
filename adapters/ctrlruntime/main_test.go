package ctrlruntime_test

import (
	"testing"

	"github.com/go-logr/logr"
	"go.uber.org/goleak"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/klog/v2"
	"sigs.k8s.io/controller-runtime/pkg/log"
)

func TestMain(m *testing.M) {
	log.SetLogger(logr.Discard())
	// Failures are reported on purpose here. The handlers of apimachinery would
	// log them, and wait in between by a clock that bubbles do not share.
	utilruntime.ErrorHandlers = nil
	klog.SetLogger(logr.Discard())
	goleak.VerifyTestMain(m,
		// controller-runtime puts it before watches of metadata and unstructured
		// objects. It never ends if the watch is stopped when it has an event that
		// nobody takes any more, whoever watches.
		goleak.IgnoreTopFunction("k8s.io/apimachinery/pkg/watch.(*filteredWatch).loop"))
}
