package driver

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"go/format"
	"go/token"
	"go/types"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/pmezard/go-difflib/difflib"
	"golang.org/x/tools/go/analysis"

	"github.com/kubetyped/informer/cmd/internal/load"
)

// edit replaces a part of a file.
type edit struct {
	start, end int
	text       string
}

// changed are the edits of a file, and the package that it is in.
type changed struct {
	edits []edit
	pkg   *types.Package
	path  string
}

// applyFixes applies the first fix of each finding, or prints what it would change. Of fixes that
// overlap, the first is applied; edits that several have are applied once. A file is written
// whole or not at all; the error names those that were not.
func (o *options) applyFixes(ctx context.Context, found []load.Finding, stdout, stderr io.Writer) error {
	files := map[string]*changed{}
	for _, f := range found {
		if len(f.SuggestedFixes) > 0 && merge(files, f) {
			continue
		}
		if o.tool.Module != "" {
			if len(f.SuggestedFixes) > 0 {
				f.Message += ", after the other changes: run " + o.tool.Name + " again"
			}
			printPlain(f, o.context, stderr)
		}
	}
	var all []error
	after := map[string][]byte{}
	for _, name := range slices.Sorted(maps.Keys(files)) {
		text, err := os.ReadFile(name)
		if err == nil {
			text, err = files[name].apply(text)
		}
		if err != nil {
			all = append(all, fmt.Errorf("%s is left as it was: %w", name, err))
			continue
		}
		after[name] = text
	}
	if err := o.compile(ctx, files, after, stderr); err != nil {
		return err
	}
	written := 0
	for _, name := range slices.Sorted(maps.Keys(after)) {
		if err := write(name, after[name], o.diff, stdout); err != nil {
			all = append(all, fmt.Errorf("%s is left as it was: %w", name, err))
			continue
		}
		written++
	}
	if o.tool.Module != "" && !o.diff {
		fmt.Fprintf(stderr, "%s: changed files: %d\n", o.tool.Name, written)
	}
	return errors.Join(all...)
}

// merge adds the edits of a finding's fix, unless they overlap others.
func merge(files map[string]*changed, f load.Finding) bool {
	edits := map[string][]edit{}
	for _, e := range f.SuggestedFixes[0].TextEdits {
		start, end := span(f.Set, e)
		one := edit{start.Offset, end.Offset, string(e.NewText)}
		if have := files[start.Filename]; have == nil || !slices.Contains(have.edits, one) {
			edits[start.Filename] = append(edits[start.Filename], one)
		}
	}
	for name, more := range edits {
		if have := files[name]; have != nil && slices.ContainsFunc(more, have.overlaps) {
			return false
		}
	}
	for name, more := range edits {
		if files[name] == nil {
			files[name] = &changed{pkg: f.Types, path: f.Package}
		}
		files[name].edits = append(files[name].edits, more...)
	}
	return true
}

// span returns where an edit starts and ends in its file, whatever //line directives there say.
func span(set *token.FileSet, e analysis.TextEdit) (start, end token.Position) {
	return set.PositionFor(e.Pos, false), set.PositionFor(cmp.Or(e.End, e.Pos), false)
}

// overlaps reports whether an edit changes what another one does. Insertions at one place do
// not overlap if they are lines.
func (c *changed) overlaps(e edit) bool {
	return slices.ContainsFunc(c.edits, func(have edit) bool {
		if e.start == have.start && e.start == e.end && have.start == have.end {
			return !strings.Contains(e.text, "\n") || !strings.Contains(have.text, "\n")
		}
		return e.start < have.end && have.start < e.end || e.start == have.start
	})
}

// apply returns a file with its edits, formatted and without imports that are not used any
// more.
func (c *changed) apply(before []byte) ([]byte, error) {
	slices.SortStableFunc(c.edits, func(a, b edit) int { return cmp.Or(cmp.Compare(a.start, b.start), cmp.Compare(a.end, b.end)) })
	var text bytes.Buffer
	last := 0
	for _, e := range c.edits {
		if e.start < last || e.end > len(before) {
			return nil, errors.New("the file has changed since it was read")
		}
		text.Write(before[last:e.start])
		text.WriteString(e.text)
		last = e.end
	}
	text.Write(before[last:])
	after, err := withoutUnused(before, text.Bytes(), c.pkg)
	if err == nil {
		after, err = format.Source(after)
	}
	if err != nil {
		return nil, fmt.Errorf("the fix does not parse: %w", err)
	}
	return after, nil
}

// write writes a file, or prints what that would change.
func write(name string, after []byte, diff bool, stdout io.Writer) error {
	if !diff {
		return replace(name, after)
	}
	before, err := os.ReadFile(name)
	if err != nil {
		return err
	}
	return difflib.WriteUnifiedDiff(stdout, difflib.UnifiedDiff{
		A: difflib.SplitLines(string(before)), B: difflib.SplitLines(string(after)),
		FromFile: name + " (old)", ToFile: name + " (new)", Context: 3,
	})
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
