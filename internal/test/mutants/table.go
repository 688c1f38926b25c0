package main

import (
	"fmt"
	"os"
	"strconv"
	"strings"

	"github.com/kubetyped/informer/internal/test/report"
)

// maker is what stands in documents for this program, see package report.
const maker = "internal/test/mutants"

// row returns the cells of a verdict.
func (v verdict) row(tried int) []string {
	seeds, check := strconv.Itoa(v.seeds), v.check
	switch {
	case v.seeds == 0:
		seeds, check = fmt.Sprintf("none of %d", tried), ""
	case v.suite.once:
		seeds = ""
	}
	return []string{v.bug + " (" + v.in + ")", seeds, check, v.suite.name()}
}

// table returns rows under their headings.
func table(rows [][]string) report.Table {
	return report.Table{Head: []string{"Bug", "Seeds until it is found", "by the check", "of the suite"}, Rows: rows}
}

// update writes rows into a document. Mutations that have no row keep the one that
// they have there.
func update(path string, rows [][]string) error {
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	known := map[string][]string{}
	for line := range strings.Lines(string(text)) {
		if cells := cellsOf(line); len(cells) == 4 {
			known[cells[0]] = cells
		}
	}
	for _, row := range rows {
		known[row[0]] = row
	}
	var kept [][]string
	for _, m := range all() {
		if row := known[verdict{mutation: m}.row(0)[0]]; row != nil {
			kept = append(kept, row)
		}
	}
	return report.Replace(path, maker, table(kept).Markdown())
}

// cellsOf returns the cells of a row of a table.
func cellsOf(line string) []string {
	line, begins := strings.CutPrefix(strings.TrimSpace(line), "| ")
	line, ends := strings.CutSuffix(line, " |")
	if !begins || !ends {
		return nil
	}
	return strings.Split(line, " | ")
}
