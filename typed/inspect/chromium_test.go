package inspect_test

import (
	"context"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// chromium is the path of a Chromium.
type chromium string

// findChromium returns a Chromium, and skips the test where there is none. A test calls it before
// it starts anything, as a skip runs no later code.
func findChromium(t *testing.T) chromium {
	t.Helper()
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if path, err := exec.LookPath(name); err == nil {
			return chromium(path)
		}
	}
	t.Skip("there is no Chromium: install Debian's package chromium to have pages looked at in a browser")
	return ""
}

// run runs a headless Chromium, and returns what it prints.
func (c chromium) run(t *testing.T, args ...string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	all := append([]string{
		"--headless=new", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--no-first-run", "--disable-extensions",
		"--disable-dev-shm-usage", "--disable-lcd-text", "--force-color-profile=srgb", "--disable-background-networking", "--user-data-dir=" + t.TempDir(),
	}, args...)
	run := exec.CommandContext(ctx, string(c), all...)
	var complaints strings.Builder
	run.Stderr = &complaints
	out, err := run.Output()
	require.NoError(t, err, complaints.String())
	return string(out)
}
