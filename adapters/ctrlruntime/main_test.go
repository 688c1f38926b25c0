package ctrlruntime_test

import (
	"slices"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/go-logr/logr"
	"github.com/go-logr/logr/funcr"
	"go.uber.org/goleak"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/klog/v2"
	"sigs.k8s.io/controller-runtime/pkg/log"
)

// kept is called with the lines of the log; nil: they are not kept.
var kept atomic.Pointer[func(line string)]

// keepLog returns a function that returns the lines that the log has had since.
func keepLog(t *testing.T) (lines func() []string) {
	var mu sync.Mutex
	var all []string
	keep := func(line string) {
		mu.Lock()
		defer mu.Unlock()
		all = append(all, line)
	}
	kept.Store(&keep)
	t.Cleanup(func() { kept.Store(nil) })
	return func() []string {
		mu.Lock()
		defer mu.Unlock()
		return slices.Clone(all)
	}
}

func TestMain(m *testing.M) {
	log.SetLogger(funcr.New(func(_, line string) {
		if keep := kept.Load(); keep != nil {
			(*keep)(line)
		}
	}, funcr.Options{}))
	// Failures are reported on purpose here. The handlers of apimachinery would
	// log them, and wait in between by a clock that bubbles do not share.
	utilruntime.ErrorHandlers = nil
	klog.SetLogger(logr.Discard())
	goleak.VerifyTestMain(m,
		// controller-runtime puts it before watches of metadata and unstructured objects. It never
		// ends if the watch is stopped while it waits for a reader of its event, in every cache.
		goleak.IgnoreTopFunction("k8s.io/apimachinery/pkg/watch.(*filteredWatch).loop"))
}
