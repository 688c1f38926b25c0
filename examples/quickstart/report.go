package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubetyped/informer/index"
	"github.com/kubetyped/informer/typed/report"
)

// counts is what handlers have seen.
type counts struct {
	initial, added, updated, deleted atomic.Int64
	phases                           atomic.Int64 // updates that changed it
}

// busiest returns the key under which there are the most Pods.
func busiest[K comparable](x *index.Index[K, *corev1.Pod]) K {
	var best K
	most := 0
	for key := range x.Keys() {
		if n := x.Len(key); n > most {
			best, most = key, n
		}
	}
	return best
}

// printer prints what there is to see.
type printer struct {
	w io.Writer
}

// title prints the first line.
func (r *printer) title(text string) { fmt.Fprintln(r.w, text) }

// heading begins a section.
func (r *printer) heading(text string) { fmt.Fprintf(r.w, "\n%s\n", text) }

// line prints a result within a section: how it was found, for what, what it
// is, and how long that took.
func (r *printer) line(how, what, result string, took time.Duration) {
	fmt.Fprintf(r.w, "  %-10s %-36s %-15s %8s\n", how, what, result, short(took))
}

// objects returns a number of objects as it is printed in a line.
func objects(n int, kind string) string { return fmt.Sprintf("%6s %s", grouped(n), kind) }

// repeats is how often each look-up is done.
const repeats = 25

// lookups begins the section.
func (r *printer) lookups() { r.heading(fmt.Sprintf("Look-ups (median of %d)", repeats)) }

// got reads a Node and prints its zone and how long that took.
func (r *printer) got(key index.Key, get func(index.Key) (*corev1.Node, bool)) {
	zone := "not found"
	took := median(func() {
		if node, ok := get(key); ok {
			zone = cmp.Or(node.Labels[corev1.LabelTopologyZone], "no zone")
		}
	})
	r.line("key", key.String(), "       "+zone, took)
}

// gotLoad does the same with the load of a Node.
func (r *printer) gotLoad(key index.Key, get func(index.Key) (load, bool)) {
	var l load
	took := median(func() { l, _ = get(key) })
	r.line("view", fmt.Sprintf("running of %s on %s", grouped(l.Pods), key), objects(l.Running, "Pods"), took)
}

// found reads the Pods and prints how many there were and how long that took.
func (r *printer) found(how, what string, pods iter.Seq[*corev1.Pod]) {
	n := 0
	took := median(func() {
		n = 0
		for range pods {
			n++
		}
	})
	r.line(how, what, objects(n, "Pods"), took)
}

// median returns how long read takes in the middle of several times.
func median(read func()) time.Duration {
	var took [repeats]time.Duration
	for i := range took {
		begin := time.Now()
		read()
		took[i] = time.Since(begin)
	}
	slices.Sort(took[:])
	return took[repeats/2]
}

// progress shows how informers sync, until it is stopped.
type progress struct {
	begin time.Time
	quit  chan struct{}
	done  sync.WaitGroup
}

func (p *progress) elapsed() time.Duration { return time.Since(p.begin) }

// stop returns when the last progress has been printed.
func (p *progress) stop() {
	close(p.quit)
	p.done.Wait()
}

// syncing prints how far informers are: on a terminal several times a second
// in one line, which is gone in the end, elsewhere in a line every second.
func (r *printer) syncing(informers ...func() report.Status) *progress {
	r.heading("Sync")
	p := &progress{begin: time.Now(), quit: make(chan struct{})}
	every, before, after := time.Second, "", "\n"
	if r.isTerminal() {
		// The cursor waits at the beginning of the line, where what is logged
		// meanwhile takes the line's place.
		every, before, after = 100*time.Millisecond, "\x1b[K", "\r"
	}
	p.done.Go(func() {
		ticker := time.NewTicker(every)
		defer ticker.Stop()
		for {
			select {
			case <-p.quit:
				fmt.Fprint(r.w, before)
				return
			case <-ticker.C:
				var line strings.Builder
				fmt.Fprintf(&line, "  %6.1fs", p.elapsed().Seconds())
				for _, status := range informers {
					s := status()
					fmt.Fprintf(&line, "   %s: %s", s.Name, strings.ToLower(s.Phase.String()))
					switch {
					case s.Expected > 0:
						fmt.Fprintf(&line, ", %s of %s objects", grouped(s.Received), grouped(s.Expected))
					case s.Received > 0:
						fmt.Fprintf(&line, ", %s objects", grouped(s.Received))
					}
					if s.Failures > 0 {
						fmt.Fprintf(&line, ", failed %d×", s.Failures)
					}
				}
				fmt.Fprint(r.w, before+line.String()+after)
			}
		}
	})
	return p
}

func (r *printer) isTerminal() bool {
	file, ok := r.w.(*os.File)
	if !ok {
		return false
	}
	info, err := file.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0 && os.Getenv("TERM") != "dumb"
}

// synced prints that the first lists are there.
func (r *printer) synced(took time.Duration, pods, nodes int) {
	r.line("informers", "hold the first list", objects(pods, "Pods"), took)
	r.line("", "", objects(nodes, "Nodes"), took)
}

// handled prints that a handler has seen the first list.
func (r *printer) handled(took time.Duration, seen *counts) {
	r.line("handler", "was called for", objects(int(seen.initial.Load()), "Pods"), took)
}

// computed prints that a view has its first results.
func (r *printer) computed(took time.Duration, nodes int) {
	r.line("view", "has computed the load of", objects(nodes, "Nodes"), took)
}

// version gets a version from the cluster and prints how long that took.
func (r *printer) version(ctx context.Context, c *cluster) (string, error) {
	r.heading("Wait for a version")
	begin := time.Now()
	version, err := c.version(ctx)
	if err != nil {
		return "", err
	}
	r.line("server", c.origin, "       "+version, time.Since(begin))
	return version, nil
}

// patience is how long to wait for a version of a cluster in which little may
// happen.
const patience = 5 * time.Second

// reached waits for a version and prints how long that took. That it was not
// reached in time is no error.
func (r *printer) reached(ctx context.Context, version string, wait func(context.Context, string) error) error {
	waiting, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	begin := time.Now()
	err := wait(waiting, version)
	switch {
	case err == nil:
		r.line("reads", "reflect it", "  after another", time.Since(begin))
	case ctx.Err() == nil && errors.Is(err, context.DeadlineExceeded):
		r.line("reads", "may not reflect it", "  unknown after", patience)
		fmt.Fprintln(r.w, "  No Pod has changed since, and no bookmark has come: a server sends one a minute or so.")
	default:
		return err
	}
	return nil
}

// events prints what is counted in each second. It returns ctx's error if that
// ends before the duration has passed.
func (r *printer) events(ctx context.Context, duration time.Duration, seen *counts, objects, backlog func() int) error {
	const format = "  %6s %10s %9s %9s %9s %9s %9s %9s\n"
	r.heading("Events")
	fmt.Fprintf(r.w, format, "", "events/s", "added", "updated", "deleted", "phases", "Pods", "backlog")
	read := func() [4]int64 {
		return [4]int64{seen.added.Load(), seen.updated.Load(), seen.deleted.Load(), seen.phases.Load()}
	}
	row := func(label string, took time.Duration, from, to [4]int64) {
		var d [4]int
		for i := range d {
			d[i] = int(to[i] - from[i])
		}
		rate := int(float64(d[0]+d[1]+d[2])/took.Seconds() + 0.5)
		fmt.Fprintf(r.w, format, label, grouped(rate), grouped(d[0]), grouped(d[1]), grouped(d[2]), grouped(d[3]),
			grouped(objects()), grouped(backlog()))
	}

	begin, first := time.Now(), read()
	last, at := first, begin
	for end := begin.Add(duration); at.Before(end); {
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(min(time.Second, time.Until(end))):
		}
		now, counted := time.Now(), read()
		row(short(now.Sub(begin).Round(100*time.Millisecond)), now.Sub(at), last, counted)
		last, at = counted, now
	}
	row("all", at.Sub(begin), first, last)
	return nil
}

// status prints the state of informers and their handlers.
func (r *printer) status(informers ...report.Status) {
	r.heading("Status")
	fmt.Fprintf(r.w, "  %-10s %-8s %9s %12s %9s %9s\n", "informer", "phase", "objects", "version", "queued", "rejected")
	for _, s := range informers {
		fmt.Fprintf(r.w, "  %-10s %-8s %9s %12s %9s %9s\n", s.Name, s.Phase, grouped(s.Objects), s.ResourceVersion,
			grouped(s.Queued), grouped(s.Rejected))
		if s.LastErr != nil {
			fmt.Fprintf(r.w, "  %10s last error: %v\n", "", s.LastErr)
		}
	}
	fmt.Fprintf(r.w, "\n  %-10s %-20s %-16s %-8s %9s\n", "informer", "handler", "delivery", "synced", "backlog")
	for _, s := range informers {
		for _, h := range s.Handlers {
			synced := "no"
			if h.Synced {
				synced = "yes"
			}
			fmt.Fprintf(r.w, "  %-10s %-20s %-16s %-8s %9s\n", s.Name, h.Name, h.Delivery, synced, grouped(h.Backlog))
		}
	}
}

// grouped returns n with its thousands set apart.
func grouped(n int) string {
	text := strconv.Itoa(n)
	for at := len(text) - 3; at > 0 && text[at-1] != '-'; at -= 3 {
		text = text[:at] + "," + text[at:]
	}
	return text
}

// short returns d with three digits that matter, but no fraction of a
// nanosecond and no rounding of whole seconds.
func short(d time.Duration) string {
	unit := time.Nanosecond
	for limit := time.Microsecond; d >= limit && limit <= 100*time.Second; limit *= 10 {
		unit = limit / 100
	}
	return d.Round(unit).String()
}
