// Package driver is the command line of informervet and informerfix.
package driver

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"strings"
	"time"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/analysis/unitchecker"

	"github.com/kubetyped/informer/cmd/internal/load"
	"github.com/kubetyped/informer/cmd/internal/report"
)

// Tool is a program made of analyzers.
type Tool struct {
	Name      string
	Usage     string // what help prints, up to the flags
	Analyzers []*analysis.Analyzer
	// Module is the path of a module that fixes import, or nothing. With it, only what
	// compiles is written, and findings without a fix are printed.
	Module string
}

// options are what flags say.
type options struct {
	tool                   Tool
	json, fix, diff, tests bool
	context                int
	tags, dir              string
	chosen                 map[string]bool // analyzers whose flags are set, and to what
}

// Run is the main function of a tool.
func Run(tool Tool) {
	if calledByGo(os.Args[1:]) {
		unitchecker.Main(tool.Analyzers...)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	code := Main(ctx, tool, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}

// calledByGo reports whether the go command runs the program, for go vet -vettool or go
// fix -fixtool.
func calledByGo(args []string) bool {
	return slices.ContainsFunc(args, func(arg string) bool {
		return strings.HasPrefix(arg, "-V") || arg == "-flags" || strings.HasSuffix(arg, ".cfg")
	})
}

// Main runs a tool on the packages that arguments name, and returns the exit code: 1
// if there are findings or errors, 2 if the arguments are wrong.
func Main(ctx context.Context, tool Tool, args []string, stdout, stderr io.Writer) int {
	if len(args) > 0 && args[0] == "help" {
		return help(tool, args[1:], stdout, stderr)
	}
	o := options{tool: tool}
	set := o.flags(stderr)
	if err := set.Parse(args); err != nil {
		if err == flag.ErrHelp {
			return 0
		}
		return 2
	}
	patterns := set.Args()
	if len(patterns) == 0 {
		patterns = []string{"."}
	}
	if o.diff && !o.fix {
		fmt.Fprintln(stderr, tool.Name+": -diff prints what -fix would write: use both")
		return 2
	}
	return o.run(ctx, o.selected(tool.Analyzers), patterns, stdout, stderr)
}

func (o *options) flags(stderr io.Writer) *flag.FlagSet {
	set := flag.NewFlagSet(o.tool.Name, flag.ContinueOnError)
	set.SetOutput(stderr)
	set.Usage = func() {
		fmt.Fprint(stderr, o.tool.Usage)
		set.PrintDefaults()
	}
	set.BoolVar(&o.json, "json", false, "print findings as JSON, as go vet does")
	set.BoolVar(&o.fix, "fix", false, "apply fixes")
	set.BoolVar(&o.diff, "diff", false, "with -fix, print the changes and write nothing")
	set.BoolVar(&o.tests, "tests", false, "check tests, too")
	set.IntVar(&o.context, "c", -1, "print `n` lines around each finding")
	set.StringVar(&o.tags, "tags", "", "build `tags`, separated by commas")
	set.StringVar(&o.dir, "C", "", "change to `dir` before anything else")
	o.chosen = map[string]bool{}
	for _, a := range o.tool.Analyzers {
		title, _, _ := strings.Cut(a.Doc, "\n")
		set.BoolFunc(a.Name, title, func(text string) error {
			if text != "true" && text != "false" {
				return fmt.Errorf("%q is neither true nor false", text)
			}
			o.chosen[a.Name] = text == "true"
			return nil
		})
		a.Flags.VisitAll(func(f *flag.Flag) { set.Var(f.Value, a.Name+"."+f.Name, f.Usage) })
	}
	return set
}

// selected returns the analyzers that flags name or, if they exclude some, all others.
func (o *options) selected(analyzers []*analysis.Analyzer) []*analysis.Analyzer {
	named := slices.ContainsFunc(analyzers, func(a *analysis.Analyzer) bool { return o.chosen[a.Name] })
	return slices.DeleteFunc(slices.Clone(analyzers), func(a *analysis.Analyzer) bool {
		on, set := o.chosen[a.Name]
		return !on && (named || set)
	})
}

func help(tool Tool, names []string, stdout, stderr io.Writer) int {
	if len(names) == 0 {
		fmt.Fprint(stdout, tool.Usage)
		for _, a := range tool.Analyzers {
			title, _, _ := strings.Cut(a.Doc, "\n")
			fmt.Fprintf(stdout, "\t-%-18s %s\n", a.Name, title)
		}
		return 0
	}
	for _, name := range names {
		i := slices.IndexFunc(tool.Analyzers, func(a *analysis.Analyzer) bool { return a.Name == name })
		if i < 0 {
			fmt.Fprintf(stderr, "%s: no analyzer has the name %s: %[1]s help lists them\n", tool.Name, name)
			return 2
		}
		fmt.Fprintf(stdout, "%s: %s\n", name, tool.Analyzers[i].Doc)
	}
	return 0
}

func (o *options) run(ctx context.Context, analyzers []*analysis.Analyzer, patterns []string, stdout, stderr io.Writer) int {
	report.Tests = o.tests
	config := load.Config{Dir: o.dir, Tests: o.tests}
	if o.tags != "" {
		config.Flags = []string{"-tags=" + o.tags}
	}
	start := time.Now()
	loaded, err := load.Load(ctx, config, patterns)
	if err != nil {
		fmt.Fprintf(stderr, "%s: %v\n", o.tool.Name, err)
		return 1
	}
	failed, above := false, 0
	var found []load.Finding
	runner := &load.Runner{Analyzers: analyzers}
	shown := start
	for i, p := range loaded.Packages {
		if now := time.Now(); now.Sub(start) > 2*time.Second && now.Sub(shown) > 2*time.Second {
			fmt.Fprintf(stderr, "%s: %d of %d packages\n", o.tool.Name, i, len(loaded.Packages))
			shown = now
		}
		if err := loaded.Check(p); err != nil {
			failed = true
			if errors.Is(err, load.ErrImports) {
				above++
				continue
			}
			fmt.Fprintf(stderr, "%s: skipped, as it does not compile: %v\n", o.tool.Name, err)
			continue
		}
		of, err := runner.Run(p)
		if err != nil {
			fmt.Fprintf(stderr, "%s: %v\n", o.tool.Name, err)
			failed = true
		}
		if loaded.Matched[p.ID] {
			found = append(found, of...)
		}
		loaded.Forget(p)
	}
	if above > 0 {
		fmt.Fprintf(stderr, "%s: skipped packages that import those: %d\n", o.tool.Name, above)
	}
	return o.print(ctx, once(found), failed, stdout, stderr)
}

// once removes what was found twice, as files are in packages and in those of their tests.
func once(found []load.Finding) []load.Finding {
	seen := map[string]bool{}
	return slices.DeleteFunc(found, func(f load.Finding) bool {
		key := f.Set.Position(f.Pos).String() + f.Analyzer + f.Message
		defer func() { seen[key] = true }()
		return seen[key]
	})
}

// print prints findings or applies their fixes, and returns the exit code.
func (o *options) print(ctx context.Context, found []load.Finding, failed bool, stdout, stderr io.Writer) int {
	var err error
	switch {
	case o.fix:
		err = o.applyFixes(ctx, found, stdout, stderr)
	case o.json:
		err = printJSON(found, stdout)
	default:
		for _, f := range found {
			printPlain(f, o.context, stderr)
		}
		failed = failed || len(found) > 0
	}
	if err != nil {
		fmt.Fprintf(stderr, "%s: %v\n", o.tool.Name, err)
		failed = true
	}
	if failed {
		return 1
	}
	return 0
}
