package main

import (
	"bytes"
	"path/filepath"
	"regexp"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/klog/v2"
)

func TestMain(m *testing.M) {
	utilruntime.ErrorHandlers = nil // they would wait by the clock outside of the bubble
	klog.SetLogger(klog.New(nil))
	goleak.VerifyTestMain(m)
}

var count = regexp.MustCompile(`(\d\d) ranges of 256, \d+ Pods`)

// TestRunShows runs the program under virtual time: how fast this machine is does not
// matter.
func TestRunShows(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out bytes.Buffer
		require.NoError(t, run(t.Context(), "", &out))
		t.Log(out.String())
		text := count.ReplaceAllString(out.String(), "$1 ranges")
		assert.Regexp(t, `three replicas share the Pods
  replica-a: 8[56] ranges
  replica-b: 8[56] ranges
  replica-c: 8[56] ranges
  together: 300 Pods
`, text)
		assert.Contains(t, out.String(), "replica-a was killed, and its Lease has expired\n  replica-b: 128 ranges of 256")
		assert.Contains(t, out.String(), "together: 300 Pods\n  replica-b: took Pods of others: true, reconciled keys: true")
	})
}

func TestRunNeedsItsKubeconfig(t *testing.T) {
	assert.ErrorContains(t, run(t.Context(), filepath.Join(t.TempDir(), "missing"), nil), "no such file")
}
