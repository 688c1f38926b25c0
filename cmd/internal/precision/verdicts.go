package main

import (
	"fmt"
	"slices"
	"strings"
)

// A verdict is what a reader found of one finding.
type verdict struct {
	project, at, analyzer string
	right                 bool
	why                   string
}

// A project is a program that was checked, with what its line says of it.
type project struct{ name, patterns, packages, took string }

// parse reads the lists of projects and verdicts. The error names the line.
func parse(text string) (projects []project, verdicts []verdict, err error) {
	n := 0
	for line := range strings.Lines(text) {
		n++
		line = strings.TrimSpace(line)
		fields := strings.Split(line, "\t")
		switch {
		case line == "" || strings.HasPrefix(line, "#"):
		case fields[0] == "project" && len(fields) == 5:
			projects = append(projects, project{fields[1], fields[2], fields[3], fields[4]})
		case len(fields) == 4 && len(projects) > 0 && (fields[2] == "true" || fields[2] == "false"):
			last := projects[len(projects)-1].name
			verdicts = append(verdicts, verdict{last, fields[0], fields[1], fields[2] == "true", fields[3]})
		default:
			return nil, nil, fmt.Errorf("line %d is neither a project nor a verdict: %q", n, line)
		}
	}
	return projects, verdicts, nil
}

// sum counts verdicts.
type sum struct{ right, all int }

func (s sum) String() string {
	if s.all == 0 {
		return "0"
	}
	return fmt.Sprintf("%d of %d", s.right, s.all)
}

func count(verdicts []verdict, which func(verdict) bool) (s sum) {
	for _, v := range verdicts {
		if !which(v) {
			continue
		}
		s.all++
		if v.right {
			s.right++
		}
	}
	return s
}

const mutation = "cachemutation"

// table returns the table of the docs.
func table(projects []project, verdicts []verdict) string {
	var b strings.Builder
	b.WriteString("| project | packages | took | `cachemutation` true | rules true |\n|---|--:|--:|--:|--:|\n")
	row := func(p project, of []verdict) {
		fmt.Fprintf(&b, "| %s | %s | %s | %s | %s |\n", p.name, p.packages, p.took,
			count(of, func(v verdict) bool { return v.analyzer == mutation }),
			count(of, func(v verdict) bool { return v.analyzer != mutation }))
	}
	for _, p := range projects {
		p.name += ", `" + strings.ReplaceAll(p.patterns, " ", "` `") + "`"
		of := slices.DeleteFunc(slices.Clone(verdicts), func(v verdict) bool {
			return v.project != strings.SplitN(p.name, ",", 2)[0]
		})
		row(p, of)
	}
	row(project{name: "**all**"}, verdicts)
	return b.String()
}
