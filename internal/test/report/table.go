package report

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
)

// Table is a table of numbers. Rows have as many cells as Head. The first column names the
// subject of each row.
type Table struct {
	Head []string
	Rows [][]string
}

// Markdown returns the table as Markdown has it, with a line end.
func (t Table) Markdown() string {
	var b strings.Builder
	line := func(cells []string) { fmt.Fprintf(&b, "| %s |\n", strings.Join(cells, " | ")) }
	line(t.Head)
	b.WriteString("|---" + strings.Repeat("|--:", len(t.Head)-1) + "|\n")
	for _, row := range t.Rows {
		line(row)
	}
	return b.String()
}

// WriteText writes the table in aligned columns, for a terminal.
func (t Table) WriteText(w io.Writer) error {
	columns := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, row := range append([][]string{t.Head}, t.Rows...) {
		fmt.Fprintln(columns, strings.Join(row, "\t"))
	}
	return columns.Flush()
}
