package chart

import (
	"math"
	"strconv"

	"golang.org/x/perf/benchunit"
)

// Unit is what an axis has.
type Unit string

// The units of axes.
const (
	Counts  Unit = ""
	Seconds Unit = "s"
	Bytes   Unit = "B"
)

// label writes a value as people do: "100 ns", "2 MB", "20,000", "1 million".
func (u Unit) label(v float64) string {
	if u == Counts {
		return Count(v)
	}
	v = rounded(v)
	scale := benchunit.CommonScale([]float64{v}, benchunit.Decimal)
	return strconv.FormatFloat(math.Round(v/scale.Factor*100)/100, 'f', -1, 64) + " " + scale.Prefix + string(u)
}

// Count writes a number with a comma after each three digits, and millions as such.
func Count(v float64) string {
	v = rounded(v)
	switch {
	case v >= 1e6:
		return strconv.FormatFloat(v/1e6, 'f', -1, 64) + " million"
	case v >= 1000:
		digits := strconv.FormatFloat(v, 'f', 0, 64)
		return digits[:len(digits)-3] + "," + digits[len(digits)-3:]
	}
	return strconv.FormatFloat(v, 'f', -1, 64)
}

// rounded returns a number with three digits that mean something.
func rounded(v float64) float64 {
	r, err := strconv.ParseFloat(strconv.FormatFloat(v, 'g', 3, 64), 64)
	if err != nil {
		return v
	}
	return r
}
