package main

import (
	"fmt"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/kubetyped/informer/internal/test/report"
)

// maker stands in documents for this program, see package report, and scorer for the scores.
const (
	maker  = "internal/test/mutants"
	scorer = maker + " -update"
)

// row returns the cells of a verdict.
func (v verdict) row(tried int) []string {
	seeds, check := strconv.Itoa(v.seeds), v.check
	switch {
	case v.seeds == 0:
		seeds, check = fmt.Sprintf("%s of %d", survived, tried), ""
	case v.suite.once:
		seeds = ""
	}
	return []string{v.bug + " (" + v.in + ")", seeds, check, v.suite.name()}
}

// survived begins the cell of a bug that was not found.
const survived = "none"

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
	rooms := map[string]*score{}
	for _, m := range all() {
		row := known[verdict{mutation: m}.row(0)[0]]
		if row == nil {
			continue
		}
		kept = append(kept, row)
		room, _ := splitName(m.in)
		if rooms[room] == nil {
			rooms[room] = &score{}
		}
		rooms[room].add(!strings.HasPrefix(row[1], survived))
	}
	if err := report.Replace(path, scorer, scores(rooms).Markdown()); err != nil {
		return err
	}
	return report.Replace(path, maker, table(kept).Markdown())
}

// score counts the bugs of a room.
type score struct{ bugs, found int }

func (s *score) add(found bool) {
	s.bugs++
	if found {
		s.found++
	}
}

// scores returns the table of rooms, by their names.
func scores(rooms map[string]*score) report.Table {
	t := report.Table{Head: []string{"Room", "Bugs", "Found", "%"}}
	for _, room := range slices.Sorted(maps.Keys(rooms)) {
		s := rooms[room]
		t.Rows = append(t.Rows, []string{room, strconv.Itoa(s.bugs), strconv.Itoa(s.found), strconv.Itoa(100 * s.found / s.bugs)})
	}
	return t
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
