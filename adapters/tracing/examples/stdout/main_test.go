package main

import (
	"bytes"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// TestTree looks at what the program prints, without times, which differ.
func TestTree(t *testing.T) {
	var out bytes.Buffer
	require.NoError(t, run(t.Context(), nil, &out))
	got := regexp.MustCompile(`(?m)^ *[0-9.]+ms +[0-9.]+ms  `).ReplaceAllString(out.String(), "")
	lines := strings.Split(strings.TrimRight(got, "\n"), "\n")
	assert.ElementsMatch(t, []string{
		"receive ConfigMap name=web resource_version=2 manager=kubectl",
		"  store",
		"  handle ConfigMap name=web resource_version=2 handler=enqueue",
		"    queue configmaps key=default/web",
		"    reconcile configmaps key=default/web links=1",
		"      HTTP POST status_code=201",
	}, lines)
	assert.True(t, strings.HasPrefix(lines[0], "receive"), "the tree begins with the event")
}

// TestJSON has OpenTelemetry's exporter print the same.
func TestJSON(t *testing.T) {
	var out bytes.Buffer
	require.NoError(t, run(t.Context(), []string{"-json"}, &out))
	for _, name := range []string{"receive ConfigMap", "store", "handle ConfigMap", "queue configmaps", "reconcile configmaps", "HTTP POST"} {
		assert.Equal(t, 1, strings.Count(out.String(), `"Name": "`+name+`"`), name)
	}
}
