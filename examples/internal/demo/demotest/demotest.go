// Package demotest tests examples.
package demotest

import (
	"bytes"
	"context"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubetyped/informer/apitest"
	"github.com/kubetyped/informer/examples/internal/demo"
)

// Output runs an example that ends by itself on a new server, and returns what it has
// written.
func Output(t *testing.T, run demo.Run) string {
	t.Helper()
	return OutputOfChange(t, run, "", nil, "")
}

// OutputOfChange does the same, makes a change when the example has written first, and
// ends the example when it has written last.
func OutputOfChange(t *testing.T, run demo.Run, first string, change func(ctx context.Context, srv *apitest.Server) error, last string) string {
	t.Helper()
	srv, err := demo.NewServer()
	require.NoError(t, err)
	defer func() { assert.NoError(t, srv.Close()) }()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	out := &output{}
	var changing sync.WaitGroup
	if change != nil {
		out.steps = []step{
			{first, func() { changing.Go(func() { assert.NoError(t, change(ctx, srv)) }) }},
			{last, cancel},
		}
	}
	require.NoError(t, run(ctx, srv.Config(), out))
	changing.Wait()
	return out.String()
}

// output takes steps, in order, when their text was written.
type output struct {
	bytes.Buffer
	steps []step
}

type step struct {
	text string
	do   func()
}

func (o *output) Write(p []byte) (int, error) {
	n, err := o.Buffer.Write(p)
	for len(o.steps) > 0 && strings.Contains(o.String(), o.steps[0].text) {
		o.steps[0].do()
		o.steps = o.steps[1:]
	}
	return n, err
}
