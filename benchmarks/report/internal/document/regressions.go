package document

import (
	"fmt"

	"github.com/kubetyped/informer/benchmarks/report/internal/regression"
	"github.com/kubetyped/informer/internal/test/report"
)

// Regressions returns a table with a row for each time, and for each benchmark that allocates
// more.
func Regressions(rows []regression.Row) report.Table {
	t := report.Table{Head: []string{"benchmark", "before", "now", "times as long", ""}}
	for _, row := range rows {
		factor, verdict := "–", ""
		if row.Ratio.Center > 0 {
			factor = fmt.Sprintf("%.2f (%.2f–%.2f)", row.Ratio.Center, row.Ratio.Lo, row.Ratio.Hi)
		} else if !row.Worse {
			continue
		}
		switch {
		case row.WorseForSure:
			verdict = Loud("worse")
		case row.Worse:
			verdict = "perhaps worse"
		}
		t.Rows = append(t.Rows, []string{name(row.Name, row.Side, row.Unit), number(row.Before, row.Unit), number(row.Now, row.Unit), factor, verdict})
	}
	return t
}

// Regression says in a line how a benchmark became worse.
func Regression(row *regression.Row) string {
	text := fmt.Sprintf("%s: %s, was %s", name(row.Name, row.Side, row.Unit), number(row.Now, row.Unit), number(row.Before, row.Unit))
	if row.Ratio.Center > 0 {
		text += fmt.Sprintf(", %.2f times as long (at least %.2f)", row.Ratio.Center, row.Ratio.Lo)
	}
	return text
}
