// Package load loads packages of the main module for analysis, one after the other: their
// syntax and types, and for packages of other modules what the compiler exports. Only
// those that the main module imports are compiled, if they are not in the build cache.
package load

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"golang.org/x/tools/go/packages"
)

// Config says which packages to load.
type Config struct {
	Dir   string   // where the go command runs; empty is the current directory
	Tests bool     // with their tests
	Flags []string // of the go command, such as -tags=e2e
	// Source checks other modules from their source, instead of compiling them: for
	// programs that are looked at once.
	Source bool
}

// Loaded are packages of the main module, whose types are not yet known.
type Loaded struct {
	// Packages lists those that match the patterns and those that they import, each
	// after those that it imports.
	Packages []*packages.Package
	// Matched contains the IDs of those that match the patterns.
	Matched map[string]bool

	*checker
}

const listed = packages.NeedName | packages.NeedFiles | packages.NeedCompiledGoFiles | packages.NeedModule |
	packages.NeedImports | packages.NeedDeps | packages.NeedForTest | packages.NeedTypesSizes

// Load lists what matches the patterns. The error says that nothing does, or why the go
// command failed.
func Load(ctx context.Context, c Config, patterns []string) (*Loaded, error) {
	config := &packages.Config{Context: ctx, Dir: c.Dir, Tests: c.Tests, BuildFlags: c.Flags, Mode: listed}
	roots, err := packages.Load(config, patterns...)
	if err != nil {
		return nil, fmt.Errorf("the go command cannot list %s: %w", strings.Join(patterns, " "), err)
	}
	if err := usable(roots, patterns); err != nil {
		return nil, err
	}
	loaded := &Loaded{Matched: map[string]bool{}}
	for _, p := range roots {
		loaded.Matched[p.ID] = true
	}
	external := map[string]bool{}
	packages.Visit(roots, nil, func(p *packages.Package) {
		if !isMain(p) || strings.HasSuffix(p.ID, ".test") {
			return
		}
		loaded.Packages = append(loaded.Packages, p)
		for _, imported := range p.Imports {
			if !isMain(imported) {
				external[imported.PkgPath] = true
			}
		}
	})
	if len(loaded.Packages) == 0 {
		return nil, fmt.Errorf("no packages of the main module match %s", strings.Join(patterns, " "))
	}
	if c.Source {
		loaded.checker = newChecker(nil)
		loaded.source = true
		return loaded, nil
	}
	exports, err := exportsOf(ctx, c, external)
	if err != nil {
		return nil, err
	}
	loaded.checker = newChecker(exports)
	return loaded, nil
}

// isMain reports whether a package is checked from its source.
func isMain(p *packages.Package) bool { return p.Module != nil && p.Module.Main }

// usable returns an error if there is no package to look at.
func usable(roots []*packages.Package, patterns []string) error {
	var all []error
	for _, p := range roots {
		if p.Name != "" || len(p.Errors) == 0 {
			return nil
		}
		all = append(all, brokenBy(p))
	}
	if len(all) == 0 {
		return fmt.Errorf("no packages match %s", strings.Join(patterns, " "))
	}
	return errors.Join(all[:min(len(all), 3)]...)
}

// brokenBy returns the first error of a package that has a position, or the first.
func brokenBy(p *packages.Package) error {
	for _, err := range p.Errors {
		if err.Pos != "" && err.Pos != "-" {
			return fmt.Errorf("%s: %s", err.Pos, err.Msg)
		}
	}
	message := p.Errors[0].Msg
	if first, rest, ok := strings.Cut(message, "\n"); ok && strings.HasPrefix(first, "# ") {
		message = strings.TrimSpace(rest)
	}
	return fmt.Errorf("package %s: %s", p.PkgPath, message)
}
