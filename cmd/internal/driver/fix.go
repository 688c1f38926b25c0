package driver

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"go/format"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"github.com/pmezard/go-difflib/difflib"

	"github.com/kubetyped/informer/cmd/internal/load"
)

// edit replaces a part of a file.
type edit struct {
	start, end int
	text       string
}

// fix applies the first fix of each finding, or prints what it would change. A fix that
// overlaps one before it is left out. A file is written whole or not at all; the error
// names those that were not.
func fix(found []load.Finding, diff bool, stdout io.Writer) error {
	files := map[string][]edit{}
	for _, f := range found {
		if len(f.SuggestedFixes) == 0 {
			continue
		}
		edits := map[string][]edit{}
		for _, e := range f.SuggestedFixes[0].TextEdits {
			start, end := f.Set.Position(e.Pos), f.Set.Position(e.End)
			if !e.End.IsValid() {
				end = start
			}
			edits[start.Filename] = append(edits[start.Filename], edit{start.Offset, end.Offset, string(e.NewText)})
		}
		if fits(files, edits) {
			for name, more := range edits {
				files[name] = append(files[name], more...)
			}
		}
	}
	var all []error
	for _, name := range slices.Sorted(maps.Keys(files)) {
		if err := fixFile(name, files[name], diff, stdout); err != nil {
			all = append(all, fmt.Errorf("%s is left as it was: %w", name, err))
		}
	}
	return errors.Join(all...)
}

// fits reports whether edits overlap none of those that are there.
func fits(files, edits map[string][]edit) bool {
	for name, more := range edits {
		for _, e := range more {
			if slices.ContainsFunc(files[name], func(have edit) bool {
				return e.start < have.end && have.start < e.end || e.start == have.start
			}) {
				return false
			}
		}
	}
	return true
}

func fixFile(name string, edits []edit, diff bool, stdout io.Writer) error {
	before, err := os.ReadFile(name)
	if err != nil {
		return err
	}
	slices.SortFunc(edits, func(a, b edit) int { return cmp.Compare(a.start, b.start) })
	var changed bytes.Buffer
	last := 0
	for _, e := range edits {
		if e.start < last || e.end > len(before) {
			return errors.New("the file has changed since it was read")
		}
		changed.Write(before[last:e.start])
		changed.WriteString(e.text)
		last = e.end
	}
	changed.Write(before[last:])
	after, err := format.Source(changed.Bytes())
	if err != nil {
		return fmt.Errorf("the fix does not parse: %w", err)
	}
	if diff {
		return difflib.WriteUnifiedDiff(stdout, difflib.UnifiedDiff{
			A: difflib.SplitLines(string(before)), B: difflib.SplitLines(string(after)),
			FromFile: name + " (old)", ToFile: name + " (new)", Context: 3,
		})
	}
	return replace(name, after)
}

// replace writes a file next to the old one, and puts it there.
func replace(name string, data []byte) (err error) {
	mode := os.FileMode(0o644)
	if info, err := os.Stat(name); err == nil {
		mode = info.Mode().Perm()
	}
	file, err := os.CreateTemp(filepath.Dir(name), "."+filepath.Base(name)+".*")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, os.Remove(file.Name()))
		}
	}()
	_, err = file.Write(data)
	if err = errors.Join(err, file.Chmod(mode), file.Close()); err != nil {
		return err
	}
	return os.Rename(file.Name(), name)
}
