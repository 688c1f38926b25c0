package main

import (
	"flag"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/kubetyped/informer/internal/test/report"
)

// plan is what is to be measured, and where that goes.
type plan struct {
	pods, others            int // objects: Pods, and each of the other kinds
	namespaces, nodes       int
	events, rounds, workers int
	out, profiles           string
	ours                    []string // the sides that are compared with client-go's
	side                    string   // or "" in the process that others are measured by
	shape                   []string // the arguments that make the same table again
}

// parse returns the plan that args are for.
func parse(args []string) (plan, error) {
	var p plan
	flags := flag.NewFlagSet("scale", flag.ContinueOnError)
	flags.IntVar(&p.pods, "pods", 20_000, "`number` of Pods")
	flags.IntVar(&p.others, "others", 2_000, "`number` of ConfigMaps, of Secrets, of Services and of EndpointSlices")
	flags.IntVar(&p.namespaces, "namespaces", 20, "`number` of namespaces that all of them are in")
	flags.IntVar(&p.nodes, "nodes", 500, "`number` of Nodes that the Pods are on, if the cluster is our own")
	// With 20,000 Pods, a side that leaves decoding to client-go collects its heap after every 7,800
	// updates. At 20,000, none of these sides is about to collect again.
	flags.IntVar(&p.events, "events", 20_000, "`number` of updates of Pods that each side follows in a round")
	flags.IntVar(&p.rounds, "rounds", 3, "`number` of times that each side is measured")
	flags.IntVar(&p.workers, "workers", 16, "`number` of requests at a time that create and update objects")
	ours := flags.String("ours", strings.Join(allOurs, ","), "`names` of the sides that are compared with client-go: import, which are its factories with one import changed, adapters, which are those with deduplication, typed, and fields, which is typed with six fields of Pods")
	flags.StringVar(&p.out, "out", "", "`file` in which to replace the table that this program has made before; what the chart is made of is written to performance/processes.json beside it, if there is that folder")
	flags.StringVar(&p.profiles, "profiles", "", "`folder` for profiles of the last round, made if it is not there: CPU of sync and events, heap between them")
	flags.StringVar(&p.side, "side", "", "`name` of the side to measure in this process, by requests on the standard input; the program does this by itself")
	if err := flags.Parse(args); err != nil {
		return plan{}, err
	}
	p.ours = strings.Split(*ours, ",")
	if flags.NArg() > 0 {
		return plan{}, fmt.Errorf("there are flags only, and no argument %q", flags.Arg(0))
	}
	flags.Visit(func(f *flag.Flag) {
		if f.Name != "profiles" {
			p.shape = append(p.shape, "-"+f.Name, f.Value.String())
		}
	})
	return p, p.validate()
}

// validate returns an error if a value is invalid.
func (p plan) validate() error {
	for _, number := range []struct {
		name  string
		value int
	}{
		{"pods", p.pods}, {"others", p.others}, {"namespaces", p.namespaces}, {"nodes", p.nodes},
		{"events", p.events}, {"rounds", p.rounds}, {"workers", p.workers},
	} {
		if number.value < 1 {
			return fmt.Errorf("-%s must be positive, not %d", number.name, number.value)
		}
	}
	for i, side := range p.ours {
		if !slices.Contains(allOurs, side) || slices.Contains(p.ours[:i], side) {
			return fmt.Errorf("-ours must have some of %s, each once, not %q", strings.Join(allOurs, ", "), p.ours)
		}
	}
	if _, ok := sides[p.side]; p.side != "" && !ok {
		return fmt.Errorf("-side must be one of %s, not %q", strings.Join(slices.Sorted(maps.Keys(sides)), ", "), p.side)
	}
	return nil
}

// prepare makes sure that what is measured can be written where it is to go,
// rather now than in some minutes. It makes the folder for profiles.
func (p plan) prepare() error {
	if p.out != "" {
		if err := report.Check(p.out, maker); err != nil {
			return err
		}
	}
	if p.profiles != "" {
		if err := os.MkdirAll(p.profiles, 0o755); err != nil {
			return fmt.Errorf("make the folder for -profiles: %w", err)
		}
	}
	return nil
}
