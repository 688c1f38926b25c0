package typed_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"

	"github.com/kubetyped/informer/internal/test/rig"
	"github.com/kubetyped/informer/internal/test/sinktest"
	"github.com/kubetyped/informer/typed/report"
)

// TestErrorHandlersMayAskForTheStatus installs a handler of errors that looks
// at the informer that reports one.
func TestErrorHandlersMayAskForTheStatus(t *testing.T) {
	defer rig.ErrorHandler.Store(nil)
	rig.InBubble(t, func(t *testing.T) {
		r := rig.New(t)
		var seen []report.Status
		var handle utilruntime.ErrorHandler = func(context.Context, error, string, ...any) { seen = append(seen, r.Status()) }
		rig.ErrorHandler.Store(&handle)
		r.Start()
		r.Sink.Report(errors.New("refused"))
		sinktest.Put(r.Sink, nil, "1")
		synctest.Wait()
		if assert.Len(t, seen, 2) {
			assert.Equal(t, 1, seen[0].Failures)
			assert.Equal(t, 1, seen[1].Rejected)
		}
	})
}
