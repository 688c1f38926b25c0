package inspect_test

import (
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubetyped/informer/typed/inspect"
)

// TestContrast: all text is readable on its background, by level AA of the Web Content
// Accessibility Guidelines, in light and dark.
func TestContrast(t *testing.T) {
	themes := strings.SplitN(inspect.Style, "prefers-color-scheme: dark", 2)
	require.Len(t, themes, 2)
	for n, theme := range themes {
		colours := map[string]string{}
		for _, match := range regexp.MustCompile(`--([a-z-]+): (#[0-9a-f]{6})`).FindAllStringSubmatch(theme, -1) {
			colours[match[1]] = match[2]
		}
		for _, text := range []string{"text", "quiet", "link", "error", "warning", "note", "good"} {
			for _, behind := range []string{"back", "card", "head"} {
				assert.GreaterOrEqual(t, contrast(t, colours[text], colours[behind]), 4.5, "%s on %s in theme %d", text, behind, n)
			}
		}
		assert.GreaterOrEqual(t, contrast(t, colours["bar"], colours["track"]), 1.5)
		assert.GreaterOrEqual(t, contrast(t, colours["quiet"], colours["card"]), 3.0, "the border of what can be written in")
	}
	for _, name := range regexp.MustCompile(`var\(--([a-z-]+)\)`).FindAllStringSubmatch(inspect.Style, -1) {
		assert.Contains(t, inspect.Style, fmt.Sprintf("--%s:", name[1]))
	}
}

// contrast returns the ratio of the luminances of two colours.
func contrast(t *testing.T, a, b string) float64 {
	luminance := func(colour string) float64 {
		require.Len(t, colour, 7)
		sum := 0.0
		for n, weight := range []float64{0.2126, 0.7152, 0.0722} {
			value, err := strconv.ParseUint(colour[1+2*n:3+2*n], 16, 8)
			require.NoError(t, err)
			part := float64(value) / 255
			if part <= 0.03928 {
				part /= 12.92
			} else {
				part = math.Pow((part+0.055)/1.055, 2.4)
			}
			sum += weight * part
		}
		return sum
	}
	light, dark := luminance(a), luminance(b)
	return (max(light, dark) + 0.05) / (min(light, dark) + 0.05)
}
