// Package load loads packages of the main module for analysis: their syntax and types,
// and for all others what the compiler exports.
package load

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"golang.org/x/tools/go/packages"
)

// Config says which packages to load.
type Config struct {
	Dir   string   // where the go command runs; empty is the current directory
	Tests bool     // with their tests
	Flags []string // of the go command, such as -tags=e2e
}

// Loaded are packages of the main module.
type Loaded struct {
	// Packages has those that match the patterns and those that they import, each after
	// those that it imports. Packages that are broken are not there.
	Packages []*packages.Package
	// Matched contains the IDs of those that match the patterns.
	Matched map[string]bool
	// Broken contains an error of each package that does not compile.
	Broken []error
}

const listed = packages.NeedName | packages.NeedModule | packages.NeedImports | packages.NeedDeps | packages.NeedForTest

// Load loads what matches the patterns. The error says that nothing does, or why the go
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
	needed := slices.Clone(patterns)
	packages.Visit(roots, nil, func(p *packages.Package) {
		if p.Module != nil && p.Module.Main && p.ForTest == "" && !strings.HasSuffix(p.ID, ".test") {
			needed = append(needed, p.PkgPath)
		}
	})
	config.Mode = packages.LoadSyntax | packages.NeedModule | packages.NeedForTest
	all, err := packages.Load(config, needed...)
	if err != nil {
		return nil, fmt.Errorf("the go command cannot load packages: %w", err)
	}
	loaded := &Loaded{Matched: map[string]bool{}}
	for _, p := range roots {
		loaded.Matched[p.ID] = true
	}
	loaded.sort(all)
	return loaded, nil
}

// usable returns an error if there is no package to look at.
func usable(roots []*packages.Package, patterns []string) error {
	if len(roots) == 0 {
		return fmt.Errorf("no packages match %s", strings.Join(patterns, " "))
	}
	var all []error
	for _, p := range roots {
		if p.Name != "" || len(p.Errors) == 0 {
			return nil
		}
		all = append(all, brokenBy(p))
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

// sort puts packages after those that they import, and leaves out those that are broken.
func (l *Loaded) sort(all []*packages.Package) {
	wanted := map[*packages.Package]bool{}
	for _, p := range all {
		wanted[p] = true
	}
	slices.SortFunc(all, func(a, b *packages.Package) int { return cmp.Compare(a.ID, b.ID) })
	packages.Visit(all, nil, func(p *packages.Package) {
		switch {
		case !wanted[p] || strings.HasSuffix(p.ID, ".test"):
		case len(p.Errors) > 0 || p.IllTyped:
			if len(p.Errors) > 0 {
				l.Broken = append(l.Broken, brokenBy(p))
			} else {
				l.Broken = append(l.Broken, fmt.Errorf("package %s: it imports packages that do not compile", p.PkgPath))
			}
		default:
			l.Packages = append(l.Packages, p)
		}
	})
}
