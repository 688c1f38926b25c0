package report

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
)

// Processes are what processes of several sides, which do the same work, have needed
// for it; less is better.
type Processes struct {
	Title string `json:"title"`
	Needs []Need `json:"needs"`
}

// Need is what every side needed of one thing, first the one that others are compared
// with.
type Need struct {
	Name  string `json:"name"`
	Unit  string `json:"unit"`
	Sides []Used `json:"sides"`
}

// Used is what one side needed.
type Used struct {
	Side  string  `json:"side"`
	Value float64 `json:"value"`
}

// Save writes the file that LoadProcesses reads.
func (p Processes) Save(path string) error {
	content, err := json.MarshalIndent(p, "", "\t")
	if err == nil {
		err = os.WriteFile(path, append(content, '\n'), 0o644)
	}
	if err != nil {
		return fmt.Errorf("save what processes need: %w", err)
	}
	return nil
}

// LoadProcesses reads a file; nothing, if it is not there.
func LoadProcesses(path string) (p Processes, err error) {
	content, err := os.ReadFile(path)
	if errors.Is(err, os.ErrNotExist) {
		return p, nil
	}
	if err == nil {
		err = json.Unmarshal(content, &p)
	}
	if err != nil {
		return p, fmt.Errorf("load what processes need from %s: %w", path, err)
	}
	return p, nil
}
