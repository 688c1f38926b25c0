// Package results keeps what benchmarks have printed, and reads and writes the
// file of it.
package results

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/perf/benchfmt"
)

// Results are those of one run of the comparison.
type Results struct {
	Started   time.Time
	Minutes   float64 // that it took
	Command   string
	Commit    string // of the measured code; ends in "+" if files differed from it
	Rounds    int
	Benchtime string // of each benchmark in each round, as -test.benchtime has it
	Machine   Machine
	Versions  []Version
	Later     []Part    `json:",omitempty"` // what was measured again
	Series    []*Series // in the order in which they came
}

// Part is another run, whose results have replaced earlier ones.
type Part struct {
	Started    time.Time
	Minutes    float64
	Command    string
	Commit     string
	Rounds     int
	CPU        string
	Benchmarks []string // their names, without what follows a slash
}

// Take replaces the results of each benchmark that another run has measured.
func (r *Results) Take(other *Results) {
	part := Part{
		Started: other.Started, Minutes: rounded(other.Minutes), Command: other.Command, Commit: other.Commit,
		Rounds: other.Rounds, CPU: other.Machine.CPU,
	}
	for _, s := range other.Series {
		if name := s.benchmark(); !slices.Contains(part.Benchmarks, name) {
			part.Benchmarks = append(part.Benchmarks, name)
		}
	}
	again := func(name string) bool { return slices.Contains(part.Benchmarks, name) }
	r.Series = slices.DeleteFunc(r.Series, func(s *Series) bool { return again(s.benchmark()) })
	r.Series = append(r.Series, other.Series...)
	for i := range r.Later {
		r.Later[i].Benchmarks = slices.DeleteFunc(r.Later[i].Benchmarks, again)
	}
	r.Later = append(slices.DeleteFunc(r.Later, func(p Part) bool { return len(p.Benchmarks) == 0 }), part)
}

// benchmark returns the name of the function.
func (s *Series) benchmark() string {
	name, _, _ := strings.Cut(s.Name, "/")
	return name
}

// Machine is where the benchmarks ran.
type Machine struct {
	CPU        string
	Processors int
	System     string // such as linux/amd64
}

// Version is that of Go or of a module.
type Version struct{ Name, Version string }

// Series is what one side of a benchmark has printed in each round.
type Series struct {
	Name    string // without "Benchmark" and the side, such as "ByIndex/matches=1"
	Side    string // such as "typed", from the part impl=typed of the name
	Metrics []Metric
}

// Metric is a quantity of a side, once for each round.
type Metric struct {
	Unit   string // a base unit, as package benchunit has it: "sec/op", not "ns/op"
	Values []float64
}

const sidePart = "/impl="

// Add adds what a benchmark has printed. With processors, their number is kept as a part of the
// name. It returns an error, and adds nothing, if the name has no side.
func (r *Results) Add(result *benchfmt.Result, processors bool) error {
	base, parts := result.Name.Parts()
	var name strings.Builder
	name.Write(base)
	side, maxprocs := "", "1"
	for _, part := range parts {
		switch text := string(part); {
		case strings.HasPrefix(text, sidePart):
			side = strings.TrimPrefix(text, sidePart)
		case strings.HasPrefix(text, "-"):
			maxprocs = text[1:]
		default:
			name.WriteString(text)
		}
	}
	if side == "" {
		return fmt.Errorf("benchmark %s: its name has no part %q that tells the side", result.Name, sidePart)
	}
	if processors {
		name.WriteString("/gomaxprocs=" + maxprocs)
	}
	s := r.series(name.String(), side)
	for _, value := range result.Values {
		s.add(value.Unit, rounded(value.Value))
	}
	return nil
}

// rounded returns a value with six digits, more than a benchmark prints: changing
// the unit has made it one with sixteen.
func rounded(value float64) float64 {
	value, _ = strconv.ParseFloat(strconv.FormatFloat(value, 'g', 6, 64), 64)
	return value
}

func (r *Results) series(name, side string) *Series {
	if s := r.Find(name, side); s != nil {
		return s
	}
	s := &Series{Name: name, Side: side}
	r.Series = append(r.Series, s)
	return s
}

// Find returns the series of a side of a benchmark, nil if there is none.
func (r *Results) Find(name, side string) *Series {
	for _, s := range r.Series {
		if s.Name == name && s.Side == side {
			return s
		}
	}
	return nil
}

func (s *Series) add(unit string, value float64) {
	i := slices.IndexFunc(s.Metrics, func(m Metric) bool { return m.Unit == unit })
	if i < 0 {
		i = len(s.Metrics)
		s.Metrics = append(s.Metrics, Metric{Unit: unit})
	}
	s.Metrics[i].Values = append(s.Metrics[i].Values, value)
}

// Values returns the values of a unit, nil if there are none.
func (s *Series) Values(unit string) []float64 {
	for _, m := range s.Metrics {
		if m.Unit == unit {
			return m.Values
		}
	}
	return nil
}

// Version returns the version of Go or of a module, "" if it is not known.
func (r *Results) Version(name string) string {
	for _, v := range r.Versions {
		if v.Name == name {
			return v.Version
		}
	}
	return ""
}

// Save writes the file at path, with a line for each series, so that the change
// from one run to the next can be read. The file is there as a whole or as it was
// before.
func (r *Results) Save(path string) (err error) {
	defer func() {
		if err != nil {
			err = fmt.Errorf("save the results: %w", err)
		}
	}()
	head := *r
	head.Minutes = rounded(head.Minutes)
	head.Series = nil
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetIndent("", "  ")
	if err := e.Encode(head); err != nil {
		return err
	}
	content, _ := bytes.CutSuffix(b.Bytes(), []byte("null\n}\n"))
	content = append(content, '[')
	for i, s := range r.Series {
		line, err := json.Marshal(s)
		if err != nil {
			return err
		}
		if i > 0 {
			content = append(content, ',')
		}
		content = append(append(content, "\n    "...), line...)
	}
	content = append(content, "\n  ]\n}\n"...)
	return replace(path, content)
}

// replace replaces the file at path by a new one, which it first writes in the same folder.
func replace(path string, content []byte) error {
	file, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+"-*")
	if err != nil {
		return err
	}
	_, err = file.Write(content)
	err = errors.Join(err, file.Chmod(0o644), file.Close())
	if err == nil {
		err = os.Rename(file.Name(), path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(file.Name()))
	}
	return nil
}

// Load reads a file that Save has written. It returns an error if it cannot be
// read or is something else.
func Load(path string) (*Results, error) {
	content, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("load the results: %w", err)
	}
	d := json.NewDecoder(bytes.NewReader(content))
	d.DisallowUnknownFields()
	var r Results
	if err := d.Decode(&r); err != nil {
		return nil, fmt.Errorf("load the results: %s was not written by the comparison: %w", path, err)
	}
	return &r, nil
}
