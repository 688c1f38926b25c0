package chart

import (
	"fmt"
	"image/color"
	"math"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// Bars draws a bar for each benchmark, as long as the logarithm of a ratio: to the right of 1
// where this project is better.
type Bars struct {
	Title string
	Axis  string // what the ratios are
	Bars  []Bar
}

// Bar is one benchmark.
type Bar struct {
	Name   string
	Ratio  float64
	Target float64 // 0: none
}

// rowHeight has room for a name and a bar.
const rowHeight = vg.Length(21)

// SVG draws the bars. Names stand above their bars, as there is no room for them
// at the side on a narrow page.
func (b *Bars) SVG() ([]byte, error) {
	p := newPlot()
	p.Title.Text = b.Title
	p.X.Label.Text = b.Axis
	p.X.Scale, p.X.Tick.Marker = plot.LogScale{}, decades{}
	p.X.Min, p.X.Max = b.ends()
	p.Y.Min, p.Y.Max = -0.5, float64(len(b.Bars))-0.5
	p.HideY()
	p.Add(b)
	return render(b.Title, rowHeight*vg.Length(len(b.Bars))+50, p.Draw)
}

// ends returns those of the horizontal axis.
func (b *Bars) ends() (least, most float64) {
	least, most = 0.5, 2
	for _, bar := range b.Bars {
		least, most = min(least, bar.Ratio), max(most, bar.Ratio, bar.Target)
	}
	return least / 1.1, most * 1.1
}

// Plot implements plot.Plotter.
func (b *Bars) Plot(c draw.Canvas, p *plot.Plot) {
	x, y := p.Transforms(&c)
	for i, bar := range b.Bars {
		middle := y(float64(len(b.Bars) - 1 - i))
		height := y(1) - y(0)
		low, high := middle-height*0.45, middle-height*0.08
		fill := color.Color(ours)
		if bar.Ratio < bar.Target {
			fill = missed
		}
		from, to := x(1), x(bar.Ratio)
		if math.Abs(float64(to-from)) < 1 {
			to = from + 1 // so that it can be seen
		}
		c.FillPolygon(fill, []vg.Point{{X: from, Y: low}, {X: to, Y: low}, {X: to, Y: high}, {X: from, Y: high}})
		if bar.Target > 0 {
			at := x(bar.Target)
			c.StrokeLine2(draw.LineStyle{Color: ink, Width: 1.5}, at, low-1, at, high+1)
		}
		letters := p.X.Tick.Label
		letters.XAlign, letters.YAlign = text.XLeft, text.YBottom
		c.FillText(letters, vg.Point{X: c.Min.X, Y: high + 0.5}, bar.Name)
		letters.YAlign = text.YCenter
		c.FillText(letters, vg.Point{X: max(from, to, x(max(bar.Target, 1))) + 3, Y: (low + high) / 2}, fmt.Sprintf("%s×", Times(bar.Ratio)))
		c.StrokeLine2(draw.LineStyle{Color: ink, Width: 0.75}, x(1), low-2, x(1), high)
	}
}

// Times writes a ratio with the digits that mean something.
func Times(ratio float64) string {
	switch {
	case ratio >= 100:
		return fmt.Sprintf("%.0f", ratio)
	case ratio >= 10:
		return fmt.Sprintf("%.1f", ratio)
	}
	return fmt.Sprintf("%.2f", ratio)
}
