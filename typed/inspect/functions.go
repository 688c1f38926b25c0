package inspect

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"html/template"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/kubetyped/informer/typed/inspect/snapshot"
)

// functions are what templates call.
var functions = template.FuncMap{
	"style":  func() template.CSS { return template.CSS(style) },
	"script": func() template.JS { return template.JS(script) },

	"count":    func(n int) string { return grouped(int64(n)) },
	"ucount":   func(n uint64) string { return grouped(int64(n)) },
	"plural":   plural,
	"times":    func(n int) string { return plural(n, "time", "times") },
	"bytes":    bytesText,
	"ubytes":   func(n uint64) string { return bytesText(int64(n)) },
	"bytesint": func(n int) string { return bytesText(int64(n)) },
	"part":     func(n, of uint64) string { return percent(float64(n) / max(1, float64(of))) },
	"percent":  percent,
	"secs":     secondsText,
	"ago":      ago,
	"since":    since,
	"clock":    func(t time.Time) string { return t.UTC().Format("15:04:05 UTC") },
	"stamp":    func(t time.Time) string { return t.UTC().Format("2006-01-02 15:04:05 UTC") },

	"icon":      icon,
	"mark":      func(s snapshot.Severity) string { return icon(s) + " " + words[s] },
	"keylink":   func(key string) string { return "?key=" + url.QueryEscape(strings.TrimPrefix(key, "/")) },
	"partlink":  partLink,
	"bar":       bar,
	"histogram": histogram,
	"indent":    indent,
}

// words are what severities are called on pages.
var words = map[snapshot.Severity]string{snapshot.Error: "Error", snapshot.Warning: "Warning", snapshot.Note: "Note"}

// icon returns a sign for a severity, so that colour is not the only one.
func icon(s snapshot.Severity) string {
	return cmp.Or(icons[s], "✓")
}

var icons = map[snapshot.Severity]string{snapshot.Error: "✕", snapshot.Warning: "▲", snapshot.Note: "●"}

// plural returns a number and the word for so many things.
func plural(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return grouped(int64(n)) + " " + many
}

// partLink returns a link to a part of the page. For informers, it leads to the folded details,
// which browsers then unfold.
func partLink(id string) string {
	if strings.HasPrefix(id, "informer-") {
		return "#" + id + "-in"
	}
	return "#" + id
}

// bar draws a part of one. It says nothing that the text next to it does not.
func bar(share float64) template.HTML {
	const width = 56
	return template.HTML(fmt.Sprintf(
		`<svg class="bar" width="%d" height="6" aria-hidden="true"><rect class="track" width="%[1]d" height="6" rx="2"/><rect class="fill" width="%.0f" height="6" rx="2"/></svg>`,
		width, width*min(1, max(0, share))))
}

// indent returns JSON for people to read.
func indent(text json.RawMessage) string {
	var b bytes.Buffer
	if json.Indent(&b, text, "", "  ") != nil {
		return string(text)
	}
	return b.String()
}

// Places in the drawing of a histogram.
const (
	barWidth, barGap  = 24, 4
	barsHeight, below = 34, 13
)

// histogram draws how long calls took. Bars grow with the logarithm of calls, so that a few
// slow ones are seen next to many quick ones.
func histogram(t *snapshot.Times) template.HTML {
	var most uint64
	for _, bucket := range t.Buckets {
		most = max(most, bucket.Calls)
	}
	var b strings.Builder
	width := len(t.Buckets) * (barWidth + barGap)
	fmt.Fprintf(&b, `<svg class="histogram" viewBox="0 0 %d %d" role="img" aria-label="%s">`, width, barsHeight+below, template.HTMLEscapeString(inWords(t)))
	for n, bucket := range t.Buckets {
		x := n * (barWidth + barGap)
		if bucket.Calls > 0 {
			height := barHeight(bucket.Calls, most)
			fmt.Fprintf(&b, `<rect class="fill" x="%d" y="%.1f" width="%d" height="%.1f"><title>%s</title></rect>`,
				x, barsHeight-height, barWidth, height, template.HTMLEscapeString(bucketText(t, n)))
		}
		if bound := bucket.UpToSeconds; bound > 0 && labelled(bound) {
			fmt.Fprintf(&b, `<text x="%d" y="%d" text-anchor="middle">%s</text>`, x+barWidth+barGap/2, barsHeight+below-3, boundText(bound))
		}
	}
	fmt.Fprintf(&b, `<line class="axis" x1="0" x2="%d" y1="%d" y2="%[2]d"/></svg>`, width, barsHeight)
	return template.HTML(b.String())
}

// barHeight returns how high the bar of so many calls is.
func barHeight(calls, most uint64) float64 {
	digits := func(n uint64) float64 { return float64(len(strconv.FormatUint(n, 2))) }
	return max(2, barsHeight*digits(calls)/digits(most))
}

// labelled reports whether a bound is written below the bars: for the others, there is no
// room.
func labelled(bound float64) bool {
	return slices.Contains([]float64{100e-6, 1e-3, 10e-3, 100e-3, 1, 10}, bound)
}

// boundText returns a bound of a bucket in few letters.
func boundText(bound float64) string {
	if bound == 60 {
		return "1 min"
	}
	return secondsText(bound)
}

// bucketText says how many calls there were in a bucket.
func bucketText(t *snapshot.Times, n int) string {
	calls := counted(int(t.Buckets[n].Calls), "call")
	if t.Buckets[n].UpToSeconds == 0 && n > 0 {
		return calls + " over " + boundText(t.Buckets[n-1].UpToSeconds)
	}
	return calls + " up to " + boundText(t.Buckets[n].UpToSeconds)
}

// inWords returns what a histogram shows, for readers that cannot see it.
func inWords(t *snapshot.Times) string {
	var said []string
	for n, bucket := range t.Buckets {
		if bucket.Calls > 0 {
			said = append(said, bucketText(t, n))
		}
	}
	return "How long calls took: " + strings.Join(said, ", ")
}
