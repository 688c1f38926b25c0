package chart

import (
	"fmt"
	"strconv"

	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/kubetyped/informer/internal/test/report"
)

// The places of what stands in a row of a chart of processes.
const (
	nameWidth  = vg.Length(92)
	valueWidth = vg.Length(92)
	barRow     = vg.Length(15)
	headRow    = vg.Length(22)
)

// Processes draws a bar for each side of each need, as long as what it used, with the
// figure and how many times less than the first side that is.
func Processes(p report.Processes) ([]byte, error) {
	height := headRow + 2*margin
	for _, need := range p.Needs {
		height += headRow + barRow*vg.Length(len(need.Sides))
	}
	style := newPlot().X.Tick.Label
	style.XAlign, style.YAlign = text.XLeft, text.YCenter
	return render(p.Title, height, func(c draw.Canvas) {
		at := c.Max.Y - headRow/2
		heading := style
		heading.Font = bold
		c.FillText(heading, vg.Point{X: c.Min.X, Y: at}, p.Title)
		for _, need := range p.Needs {
			at -= headRow
			c.FillText(heading, vg.Point{X: c.Min.X, Y: at}, need.Name)
			at -= barRow
			at = sides(c, style, need, at)
		}
	})
}

// sides draws the bars of a need from a height on downwards, and returns where the next
// would be.
func sides(c draw.Canvas, style text.Style, need report.Need, at vg.Length) vg.Length {
	longest := 0.0
	for _, used := range need.Sides {
		longest = max(longest, used.Value)
	}
	left := c.Min.X + nameWidth
	room := c.Max.X - valueWidth - left
	for i, used := range need.Sides {
		c.FillText(style, vg.Point{X: c.Min.X, Y: at}, used.Side)
		fill, label := ours, fmt.Sprintf("%s %s", figure(used.Value), need.Unit)
		if i == 0 {
			fill = theirs
		} else {
			label += fmt.Sprintf(", %s× less", Times(need.Sides[0].Value/used.Value))
		}
		right := left + max(1, room*vg.Length(used.Value/longest))
		low, high := at-barRow*0.36, at+barRow*0.36
		c.FillPolygon(fill, []vg.Point{{X: left, Y: low}, {X: right, Y: low}, {X: right, Y: high}, {X: left, Y: high}})
		c.FillText(style, vg.Point{X: right + 3, Y: at}, label)
		at -= barRow
	}
	return at + barRow
}

// figure writes a value with two or three digits.
func figure(v float64) string {
	digits := 0
	switch {
	case v < 1:
		digits = 2
	case v < 10:
		digits = 1
	}
	return strconv.FormatFloat(v, 'f', digits, 64)
}
