package document

import (
	"math"
	"strings"

	"golang.org/x/perf/benchmath"
	"golang.org/x/perf/benchunit"

	"github.com/kubetyped/informer/benchmarks/report/internal/chart"
	"github.com/kubetyped/informer/benchmarks/report/internal/comparison"
)

// number writes a value with the prefix of its unit, and with what the unit is
// of: "1.355µs" for sec/op.
func number(value float64, unit string) string {
	const most = 1e6 // that is read as it is, if it is a count
	if suffix(unit) == "" && value >= 1000 && value < most {
		value = math.Round(value)
	}
	if value == math.Trunc(value) && (value < 1000 || value < most && suffix(unit) == "") {
		return benchunit.NoOpScaler.Format(value) + suffix(unit)
	}
	return benchunit.Scale(value, benchunit.ClassOf(unit)) + suffix(unit)
}

// suffix returns what is measured in a unit such as "p50-sec" or "cpu-sec/op".
func suffix(unit string) string {
	what, _, _ := strings.Cut(unit, "/")
	switch {
	case strings.HasSuffix(unit, "/s"):
		return "/s"
	case what == "sec" || strings.HasSuffix(what, "-sec"):
		return "s"
	case what == "B" || strings.HasSuffix(what, "-B"):
		return "B"
	}
	return ""
}

// spread writes a median and how far its interval reaches.
func spread(v comparison.Value, unit string) string {
	if v.N == 0 {
		return "–"
	}
	text := number(v.Center, unit)
	if v.Center != 0 && v.N > 1 {
		text += " ±" + percent(v.Summary)
	}
	return text
}

func percent(s benchmath.Summary) string {
	return strings.TrimSpace(strings.TrimPrefix(s.PctRangeString(), "±"))
}

// ratio writes how many times better a row is, and that no difference shows.
func ratio(r *comparison.Row) string {
	switch {
	case r.Ratio == 0:
		return "–"
	case r.Alike:
		return chart.Times(r.Ratio) + "× ~"
	}
	return chart.Times(r.Ratio) + "×"
}

// times writes the ratio of a target.
func times(atLeast float64) string {
	return benchunit.NoOpScaler.Format(math.Round(atLeast*100)/100) + "×"
}
