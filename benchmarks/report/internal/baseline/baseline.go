// Package baseline reads which commits the benchmarks are compared with.
package baseline

import (
	"fmt"
	"os"
	"regexp"
	"strings"
)

// Family are benchmarks that have one baseline.
type Family struct {
	Name   string
	Commit string // at which they were best
	// Pattern selects this project's side, as go test -bench does, and Control one of
	// client-go's sides, "" for none. Every element of the name has one of the pattern.
	Pattern, Control string
}

// Load reads a file of families: a line each of name, commit, pattern and control or
// "-", with blanks between them. Empty lines, and lines that begin with "#", are left
// out. The error names the file and the line.
func Load(path string) ([]Family, error) {
	content, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("load the baselines: %w", err)
	}
	var families []Family
	seen := map[string]bool{}
	number := 0
	for line := range strings.Lines(string(content)) {
		number++
		fields := strings.Fields(line)
		if len(fields) == 0 || strings.HasPrefix(fields[0], "#") {
			continue
		}
		f, err := parse(fields)
		if err == nil && seen[f.Name] {
			err = fmt.Errorf("there are two families %s", f.Name)
		}
		if err != nil {
			return nil, fmt.Errorf("load the baselines: %s:%d: %w", path, number, err)
		}
		seen[f.Name] = true
		families = append(families, f)
	}
	if len(families) == 0 {
		return nil, fmt.Errorf("load the baselines: %s has none", path)
	}
	return families, nil
}

// commits are what git is asked for: no option of it, and no path.
var commits = regexp.MustCompile(`^[0-9a-f]{7,40}$`)

func parse(fields []string) (Family, error) {
	if len(fields) != 4 {
		return Family{}, fmt.Errorf("want name, commit, pattern and control, got %q", strings.Join(fields, " "))
	}
	f := Family{Name: fields[0], Commit: fields[1], Pattern: fields[2], Control: fields[3]}
	if f.Control == "-" {
		f.Control = ""
	}
	if !commits.MatchString(f.Commit) {
		return f, fmt.Errorf("commit %q: want at least seven hexadecimal digits", f.Commit)
	}
	for _, pattern := range []string{f.Pattern, f.Control} {
		for element := range strings.SplitSeq(pattern, "/") {
			if _, err := regexp.Compile(element); err != nil {
				return f, fmt.Errorf("pattern %s: %w", pattern, err)
			}
		}
	}
	return f, nil
}
