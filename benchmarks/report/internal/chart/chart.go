// Package chart draws what was measured as SVG: to be read on a phone, and in a
// dark room as well as in a bright one.
package chart

import (
	"bytes"
	"fmt"
	"image/color"
	"math"
	"regexp"

	xfont "golang.org/x/image/font"
	"gonum.org/v1/plot"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgsvg"
)

// A chart is as wide as a phone shows without making its letters smaller than
// they are.
const (
	width    = vg.Length(300) // points, 400 pixels
	fontSize = vg.Length(10)
	margin   = vg.Length(6)
)

// The colours are those of a light page. style replaces them where the reader prefers a dark
// one.
var (
	paper = color.RGBA{0xff, 0xff, 0xff, 0xff}
	ink   = color.RGBA{0x1f, 0x23, 0x28, 0xff}
	faint = color.RGBA{0xd0, 0xd7, 0xde, 0xff}
	// These are legible on both papers, and differ in brightness too, so that they are distinct
	// without colours.
	ours   = color.RGBA{0x1f, 0x6f, 0xeb, 0xff}
	theirs = color.RGBA{0xd9, 0x77, 0x06, 0xff}
	missed = color.RGBA{0xcf, 0x22, 0x2e, 0xff}
)

var (
	letters = font.Font{Typeface: "Liberation", Variant: "Sans", Size: fontSize}
	bold    = font.Font{Typeface: "Liberation", Variant: "Sans", Weight: xfont.WeightBold, Size: fontSize}
)

// style changes the colours where the reader prefers dark ones, and says what
// letters there are when Liberation Sans is not.
const style = `<style>
text { font-family: "Liberation Sans", Arial, Helvetica, sans-serif !important; }
@media (prefers-color-scheme: dark) {
[style*="fill:#FFFFFF"] { fill: #0D1117 !important; }
[style*="fill:#1F2328"] { fill: #E6EDF3 !important; }
[style*="stroke:#1F2328"] { stroke: #E6EDF3 !important; }
[style*="stroke:#D0D7DE"] { stroke: #30363D !important; }
}
</style>
`

var (
	opening = regexp.MustCompile(`(?s)<svg[^>]*>\n`)
	size    = regexp.MustCompile(` width="[^"]*" height="[^"]*"`)
)

// render returns the SVG that draws makes on a canvas of width and a height. Screen readers read
// the title.
func render(title string, height vg.Length, draws func(draw.Canvas)) ([]byte, error) {
	canvas := vgsvg.New(width, height)
	c := draw.New(canvas)
	c.FillPolygon(paper, []vg.Point{{X: 0, Y: 0}, {X: width, Y: 0}, {X: width, Y: height}, {X: 0, Y: height}})
	draws(draw.Crop(c, margin, -margin, margin, -margin))
	var b bytes.Buffer
	if _, err := canvas.WriteTo(&b); err != nil {
		return nil, fmt.Errorf("draw %q: %w", title, err)
	}
	at := opening.FindIndex(b.Bytes())
	if at == nil {
		return nil, fmt.Errorf("draw %q: the SVG has no opening tag", title)
	}
	head := size.ReplaceAll(b.Bytes()[:at[1]], nil) // the viewBox sets the size, the page the width
	head = bytes.Replace(head, []byte("<svg"), fmt.Appendf(nil, `<svg width="%.0f" height="%.0f" role="img"`, width.Points()*4/3, height.Points()*4/3), 1)
	var all bytes.Buffer
	all.Write(head)
	fmt.Fprintf(&all, "<title>%s</title>\n%s", title, style)
	all.Write(b.Bytes()[at[1]:])
	return all.Bytes(), nil
}

// newPlot returns a plot with the letters and lines that all have.
func newPlot() *plot.Plot {
	p := plot.New()
	p.BackgroundColor = nil
	p.Title.TextStyle.Font = bold
	p.Title.TextStyle.Color = ink
	p.Title.Padding = 4
	for _, axis := range []*plot.Axis{&p.X, &p.Y} {
		axis.Color = ink
		axis.LineStyle.Color = ink
		axis.Label.TextStyle.Font = letters
		axis.Label.TextStyle.Color = ink
		axis.Tick.Label.Font = letters
		axis.Tick.Label.Color = ink
		axis.Tick.LineStyle.Color = ink
	}
	p.Legend.TextStyle.Font = letters
	p.Legend.TextStyle.Color = ink
	return p
}

// decades returns a tick for each power of ten or, where there are few of them, for one, two and
// five times each, in a unit.
type decades struct{ unit Unit }

func (d decades) Ticks(least, most float64) []plot.Tick {
	steps := []float64{1}
	switch span := math.Log10(most / least); {
	case span <= 1.5:
		steps = []float64{1, 2, 5}
	case span <= 2.5:
		steps = []float64{1, 3}
	}
	var ticks []plot.Tick
	for exponent := math.Floor(math.Log10(least)); exponent <= math.Ceil(math.Log10(most)); exponent++ {
		for _, step := range steps {
			if v := step * math.Pow(10, exponent); v >= least*0.999 && v <= most*1.001 {
				ticks = append(ticks, plot.Tick{Value: v, Label: d.unit.label(v)})
			}
		}
	}
	return ticks
}
