package goroutine

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/assert"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
)

// TestPanics: each way to call a function reports its panic once, and all but Report end
// where programs are to crash.
func TestPanics(t *testing.T) {
	crash, handlers := utilruntime.ReallyCrash, utilruntime.PanicHandlers
	defer func() { utilruntime.ReallyCrash, utilruntime.PanicHandlers = crash, handlers }()
	var reported []any
	utilruntime.PanicHandlers = []func(context.Context, any){func(_ context.Context, p any) { reported = append(reported, p) }}
	cause := errors.New("planted")
	panics := func() { panic(cause) }
	recovered := func(then func(context.Context, any)) {
		defer func() {
			if p := recover(); p != nil {
				then(t.Context(), p)
			}
		}()
		panics()
	}
	for name, call := range map[string]func(){
		"Contain": func() {
			err := Contain(t.Context(), "a source", func() error { panics(); return nil })
			assert.EqualError(t, err, "a source has panicked: planted")
			assert.ErrorIs(t, err, cause)
		},
		"Call":   func() { Call(t.Context(), panics) },
		"Crash":  func() { recovered(Crash) },
		"Report": func() { recovered(Report) },
	} {
		t.Run(name, func(t *testing.T) {
			reported, utilruntime.ReallyCrash = nil, false
			assert.NotPanics(t, call)
			assert.Equal(t, []any{cause}, reported)
			reported, utilruntime.ReallyCrash = nil, true
			if name == "Report" {
				assert.NotPanics(t, call)
			} else {
				assert.PanicsWithValue(t, cause, call)
			}
			assert.Equal(t, []any{cause}, reported)
		})
	}
	assert.NoError(t, Contain(t.Context(), "a source", func() error { return nil }))
}
