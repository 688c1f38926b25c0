package inspect

import (
	"fmt"
	"math"
	"strconv"
	"time"
)

// grouped returns a number with its digits in groups of three.
func grouped(n int64) string {
	text := strconv.FormatInt(n, 10)
	start := 0
	if n < 0 {
		start = 1
	}
	for at := len(text) - 3; at > start; at -= 3 {
		text = text[:at] + "," + text[at:]
	}
	return text
}

// counted returns a number of things.
func counted(n int, thing string) string { return plural(n, thing, thing+"s") }

// objects returns a number of objects.
func objects(n int) string { return counted(n, "object") }

// times says how often, as the end of a phrase; "" for once or less.
func times(n int) string {
	if n <= 1 {
		return ""
	}
	return ", " + counted(n, "time")
}

// percent returns a part of one in percent.
func percent(part float64) string {
	if 0 < part && part < 0.01 {
		return "<1%"
	}
	return strconv.Itoa(int(math.Round(part*100))) + "%"
}

// bytesText returns a size in the unit that fits it.
func bytesText(n int64) string {
	size, unit := float64(n), 0
	for size >= 999.5 && unit < 4 {
		size /= 1024
		unit++
	}
	digits := 0
	if unit > 0 && size < 9.95 {
		digits = 1
	}
	return strconv.FormatFloat(size, 'f', digits, 64) + " " + [...]string{"B", "KiB", "MiB", "GiB", "TiB"}[unit]
}

// secondsText returns a duration with two digits or so.
func secondsText(s float64) string {
	switch {
	case s <= 0:
		return "0 s"
	case s < 0.001:
		return short(s*1e6) + " µs"
	case s < 1:
		return short(s*1e3) + " ms"
	case s < 60:
		return short(s) + " s"
	default:
		return span(time.Duration(s * float64(time.Second)))
	}
}

// short returns a number with a digit after the point if it is small.
func short(x float64) string {
	if x < 9.95 && x != math.Trunc(x) {
		return strconv.FormatFloat(x, 'f', 1, 64)
	}
	return strconv.FormatFloat(x, 'f', 0, 64)
}

// span returns a duration as people say it, no finer than it is of interest.
func span(d time.Duration) string {
	d = max(0, d)
	switch {
	case d < 2*time.Minute:
		return fmt.Sprintf("%d s", int(d.Seconds()))
	case d < 2*time.Hour:
		return fmt.Sprintf("%d min", int(d.Minutes()))
	case d < 48*time.Hour:
		return fmt.Sprintf("%d h", int(d.Hours()))
	default:
		return fmt.Sprintf("%d days", int(d.Hours())/24)
	}
}

// ago says how long ago something was, in steps that grow with it, so that a page of idle parts
// does not change all the time.
func ago(now, then time.Time) string {
	switch d := now.Sub(then); {
	case then.IsZero():
		return "never"
	case d < 10*time.Second:
		return "now"
	case d < time.Minute:
		return span(d.Truncate(10*time.Second)) + " ago"
	default:
		return span(d.Truncate(time.Minute)) + " ago"
	}
}

// since says for how long something has been so.
func since(now, then time.Time) string { return span(now.Sub(then)) }
