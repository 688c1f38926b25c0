package inspect_test

import (
	"context"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// chromium runs a headless Chromium, and returns what it prints. The test is skipped where
// there is none.
func chromium(t *testing.T, args ...string) string {
	t.Helper()
	var path string
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if found, err := exec.LookPath(name); err == nil {
			path = found
			break
		}
	}
	if path == "" {
		t.Skip("there is no Chromium: install Debian's package chromium to have pages looked at in a browser")
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	all := append([]string{
		"--headless=new", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--no-first-run", "--disable-extensions",
		"--disable-dev-shm-usage", "--disable-lcd-text", "--force-color-profile=srgb", "--disable-background-networking", "--user-data-dir=" + t.TempDir(),
	}, args...)
	run := exec.CommandContext(ctx, path, all...)
	var complaints strings.Builder
	run.Stderr = &complaints
	out, err := run.Output()
	require.NoError(t, err, complaints.String())
	return string(out)
}
