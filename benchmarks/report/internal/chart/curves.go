package chart

import (
	"fmt"
	"image/color"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// Curves are panels below each other, with one horizontal axis: what something
// costs against how large it is.
type Curves struct {
	Title  string
	Size   string // what the horizontal axis has, such as "handlers"
	Panels []Panel
}

// Panel is a plot with a curve for each side.
type Panel struct {
	Cost string // what the vertical axis has, such as "events a second"
	Unit Unit   // of the costs
	// Ours and Theirs are this project's and client-go's.
	Ours, Theirs []Point
}

// Point is what something costs at a size. Both axes are logarithmic, so a cost
// of 0 is left out, and a size of 0 is drawn at zeroAt.
type Point struct{ Size, Cost float64 }

// zeroAt is where a size of 0 is drawn.
const zeroAt = 0.5

const panelHeight = vg.Length(150)

// SVG draws the curves. Panels without a point that can be drawn are left out. It
// returns an error if that leaves none.
func (c *Curves) SVG() ([]byte, error) {
	var column [][]*plot.Plot
	panels := slices.DeleteFunc(slices.Clone(c.Panels), func(p Panel) bool { return len(onPaper(p.Ours))+len(onPaper(p.Theirs)) == 0 })
	if len(panels) == 0 {
		return nil, fmt.Errorf("draw %q: there is nothing to draw", c.Title)
	}
	for i, panel := range panels {
		p, err := c.plot(panel, i == 0)
		if err != nil {
			return nil, err
		}
		if i == 0 {
			p.Title.Text = c.Title
		}
		if i == len(panels)-1 {
			p.X.Label.Text = c.Size
		}
		column = append(column, []*plot.Plot{p})
	}
	return render(c.Title, panelHeight*vg.Length(len(column)), func(canvas draw.Canvas) {
		tiles := draw.Tiles{Rows: len(column), Cols: 1, PadY: 8}
		for i, row := range plot.Align(column, tiles, canvas) {
			column[i][0].Draw(row[0])
		}
	})
}

// plot draws a panel, with a legend or without.
func (c *Curves) plot(panel Panel, legend bool) (*plot.Plot, error) {
	p := newPlot()
	p.Y.Label.Text = panel.Cost
	p.Y.Scale, p.Y.Tick.Marker = plot.LogScale{}, decades{panel.Unit}
	p.X.Scale, p.X.Tick.Marker = plot.LogScale{}, sizes(c.all())
	p.Legend.Top, p.Legend.Left = true, true
	grid := plotter.NewGrid()
	grid.Horizontal.Color, grid.Vertical.Color = faint, faint
	p.Add(grid)
	for _, side := range []struct {
		name   string
		points []Point
		color  color.Color
		shape  draw.GlyphDrawer
		dashes []vg.Length
	}{
		{"here", panel.Ours, ours, draw.CircleGlyph{}, nil},
		{"client-go", panel.Theirs, theirs, draw.SquareGlyph{}, []vg.Length{4, 2}},
	} {
		line, marks, err := plotter.NewLinePoints(onPaper(side.points))
		if err != nil {
			return nil, err
		}
		line.Color, line.Width, line.Dashes = side.color, 1.75, side.dashes
		marks.Color, marks.Shape, marks.Radius = side.color, side.shape, 2.5
		p.Add(line, marks)
		if legend {
			p.Legend.Add(side.name, line, marks)
		}
	}
	p.Y.Min, p.Y.Max = p.Y.Min/1.3, p.Y.Max*1.3
	p.X.Min, p.X.Max = p.X.Min/1.05, p.X.Max*1.05
	if legend {
		p.Y.Max *= 2 // room for it
	}
	return p, nil
}

// all returns the sizes of all points, in order.
func (c *Curves) all() []float64 {
	var all []float64
	for _, panel := range c.Panels {
		for _, point := range append(slices.Clone(panel.Ours), panel.Theirs...) {
			all = append(all, point.Size)
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

func onPaper(points []Point) plotter.XYs {
	var all plotter.XYs
	for _, point := range points {
		if point.Cost > 0 {
			all = append(all, plotter.XY{X: max(point.Size, zeroAt), Y: point.Cost})
		}
	}
	return all
}

// sizes returns a tick for each size that was measured.
type sizes []float64

func (s sizes) Ticks(_, _ float64) []plot.Tick {
	var ticks []plot.Tick
	for _, size := range s {
		ticks = append(ticks, plot.Tick{Value: max(size, zeroAt), Label: Count(size)})
	}
	return ticks
}
