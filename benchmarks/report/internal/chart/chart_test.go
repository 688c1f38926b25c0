package chart

import (
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"math"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"gonum.org/v1/plot"

	"github.com/kubetyped/informer/internal/test/report"
)

// texts checks that an SVG is one, and returns the texts in it.
func texts(t *testing.T, svg []byte) []string {
	t.Helper()
	var all []string
	d := xml.NewDecoder(strings.NewReader(string(svg)))
	inText := false
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			return all
		}
		require.NoError(t, err)
		switch token := token.(type) {
		case xml.StartElement:
			inText = token.Name.Local == "text" || token.Name.Local == "title"
		case xml.CharData:
			if inText {
				all = append(all, string(token))
			}
		case xml.EndElement:
			inText = false
		}
	}
}

// checkColors checks that what is drawn has colours that style changes, or that
// are legible on both papers.
func checkColors(t *testing.T, svg []byte) {
	t.Helper()
	drawn := string(svg[strings.Index(string(svg), "</style>"):])
	for _, use := range regexp.MustCompile(`(fill|stroke):#([0-9A-F]{6})`).FindAllStringSubmatch(drawn, -1) {
		if strings.Contains(style, use[0]) {
			continue
		}
		var r, g, b uint8
		_, err := fmt.Sscanf(use[2], "%02x%02x%02x", &r, &g, &b)
		require.NoError(t, err)
		brightness := luminance(r, g, b)
		const least = 3 // that the Web Content Accessibility Guidelines ask of graphics
		assert.GreaterOrEqual(t, 1.05/(brightness+0.05), float64(least), "%s on bright paper", use[0])
		assert.GreaterOrEqual(t, (brightness+0.05)/(luminance(0x0d, 0x11, 0x17)+0.05), float64(least), "%s on dark paper", use[0])
	}
}

func TestCurves(t *testing.T) {
	c := &Curves{Title: "Handlers", Size: "number of handlers", Panels: []Panel{
		{Cost: "events a second", Ours: []Point{{0, 2e6}, {256, 1e5}}, Theirs: []Point{{0, 2e5}, {256, 3e3}}},
		{Cost: "heap, B", Ours: []Point{{0, 0}, {256, 1e7}}, Theirs: []Point{{16, 2e5}, {256, 3e8}}},
	}}
	svg, err := c.SVG()
	require.NoError(t, err)
	all := texts(t, svg)
	for _, want := range []string{"Handlers", "number of handlers", "events a second", "heap, B", "here", "client-go", "0", "16", "256"} {
		assert.Contains(t, all, want)
	}
	checkColors(t, svg)
	again, err := c.SVG()
	require.NoError(t, err)
	assert.Equal(t, svg, again, "the same figures give the same file")
}

func TestCurvesLeaveOutEmptyPanels(t *testing.T) {
	zero := Panel{Cost: "nothing", Ours: []Point{{1, 0}}}
	some := Panel{Cost: "something", Theirs: []Point{{0, 5}}}
	svg, err := (&Curves{Title: "Title", Size: "size", Panels: []Panel{some, zero}}).SVG()
	require.NoError(t, err)
	all := texts(t, svg)
	assert.Subset(t, all, []string{"something", "size", "here"})
	assert.NotContains(t, all, "nothing")
	_, err = (&Curves{Title: "Title", Panels: []Panel{zero}}).SVG()
	assert.ErrorContains(t, err, `draw "Title": there is nothing to draw`)
}

func TestBars(t *testing.T) {
	b := &Bars{Title: "Ratios", Axis: "times", Bars: []Bar{{"one", 0.5, 1}, {"two", 4.256, 4}, {"three", 1200, 0}, {"four", 1, 0}}}
	svg, err := b.SVG()
	require.NoError(t, err)
	all := texts(t, svg)
	for _, want := range []string{"Ratios", "times", "one", "0.50×", "two", "4.26×", "1200×", "1,000"} {
		assert.Contains(t, all, want)
	}
	checkColors(t, svg)
	assert.Equal(t, 1, strings.Count(string(svg), "#CF222E"), "one is missed")
}

func TestTicks(t *testing.T) {
	labels := func(ticks []plot.Tick) string {
		var all []string
		for _, tick := range ticks {
			all = append(all, tick.Label)
		}
		return strings.Join(all, " ")
	}
	assert.Equal(t, "1 2 5 10", labels(decades{}.Ticks(1, 10)))
	assert.Equal(t, "0.3 1 3 10 30", labels(decades{}.Ticks(0.2, 40)))
	assert.Equal(t, "100 ns, 1 µs, 10 µs, 100 µs, 1 ms", strings.ReplaceAll(labels(decades{Seconds}.Ticks(1e-7, 1e-3)), "s ", "s, "))
	assert.Equal(t, "200 kB, 500 kB, 1 MB, 2 MB", strings.ReplaceAll(labels(decades{Bytes}.Ticks(2e5, 2e6)), "B ", "B, "))
	assert.Equal(t, "0 1,000 20,000 1 million 2.5 million", labels(sizes{0, 1000, 2e4, 1e6, 2.5e6}.Ticks(0, 0)))
}

// luminance is the relative one of those guidelines.
func luminance(r, g, b uint8) float64 {
	linear := func(part uint8) float64 {
		c := float64(part) / 255
		if c <= 0.04045 {
			return c / 12.92
		}
		return math.Pow((c+0.055)/1.055, 2.4)
	}
	return 0.2126*linear(r) + 0.7152*linear(g) + 0.0722*linear(b)
}

func TestProcesses(t *testing.T) {
	svg, err := Processes(report.Processes{Title: "The same work", Needs: []report.Need{
		{Name: "CPU", Unit: "s", Sides: []report.Used{{Side: "client-go", Value: 3}, {Side: "typed", Value: 1.5}, {Side: "more", Value: 6}}},
		{Name: "Memory", Unit: "MB", Sides: []report.Used{{Side: "client-go", Value: 512}, {Side: "typed", Value: 0.25}}},
	}})
	require.NoError(t, err)
	assert.Equal(t, []string{
		"The same work", "The same work",
		"CPU", "client-go", "3.0 s", "typed", "1.5 s, 2.00× less", "more", "6.0 s, 0.50× less",
		"Memory", "client-go", "512 MB", "typed", "0.25 MB, 2048× less",
	}, texts(t, svg))
	checkColors(t, svg)
}
