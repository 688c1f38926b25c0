// Command referring is a controller of Ingresses that reads the Secrets that they name, in one
// of five ways. It prints a line of JSON when it has reconciled all Ingresses, when it reads a
// Secret that was changed, and what all has taken for each line of its input, with which it
// ends. The module e2e runs it.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"runtime"
	"sync"
	"time"

	"github.com/go-logr/logr"
	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/kubetyped/informer/internal/test/traffic"
)

// The ways to read Secrets.
const (
	clientGo    = "client-go"          // an informer of client-go
	runtimes    = "controller-runtime" // its cache
	uncached    = "uncached"           // requests of controller-runtime's client
	withOptions = "WithReferences"     // controller-runtime with the option of adapters/ctrlruntime
	ours        = "typed"              // package typed/reference
)

var (
	way       = flag.String("way", ours, "how to read: client-go, controller-runtime, uncached, WithReferences or typed")
	ingresses = flag.Int("ingresses", 50, "number of Ingresses")
	period    = flag.Duration("period", 30*time.Second, "how often Ingresses are reconciled if Secrets are not cached")
	workers   = flag.Int("workers", 4, "number of workers")
)

// Line is a line of output.
type Line struct {
	Event      string // synced, changed, or counts
	Secret     string // that was changed
	Took       time.Duration
	Heap       int64 // bytes, more than at the start
	Goroutines int   // more than at the start
	traffic.Counts
}

func main() {
	flag.Parse()
	ctrl.SetLogger(logr.Discard())
	config := ctrl.GetConfigOrDie()
	config.QPS, config.Burst = rest.DefaultQPS, rest.DefaultBurst
	p := &program{begin: time.Now(), heap: inUse(), goroutines: runtime.NumGoroutine()}
	p.traffic.Count(config)
	ctx, cancel := context.WithCancel(context.Background())
	var running sync.WaitGroup
	running.Go(func() {
		if err := p.run(ctx, config); err != nil && ctx.Err() == nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	})
	for lines := bufio.NewScanner(os.Stdin); lines.Scan(); {
		p.print(Line{Event: "counts"})
	}
	cancel()
	running.Wait()
}

// run runs the controller.
func (p *program) run(ctx context.Context, config *rest.Config) error {
	switch *way {
	case clientGo:
		return p.runClientGo(ctx, config)
	case ours:
		return p.runTyped(ctx, config)
	case runtimes, uncached, withOptions:
		return p.runManager(ctx, config)
	default:
		return fmt.Errorf("-way is %q: name %s, %s, %s, %s or %s", *way, clientGo, runtimes, uncached, withOptions, ours)
	}
}

// program is what the ways share.
type program struct {
	begin      time.Time
	heap       int64
	goroutines int
	traffic    traffic.Counter

	mu     sync.Mutex
	stamps map[string]string // guarded by mu; when Secrets were changed
	passed map[string]bool   // guarded by mu; Ingresses that were reconciled
}

// print prints a line with what all has taken.
func (p *program) print(l Line) {
	l.Goroutines, l.Counts = runtime.NumGoroutine()-p.goroutines, p.traffic.Counts()
	if l.Event == "counts" {
		l.Heap = inUse() - p.heap
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if err := json.NewEncoder(os.Stdout).Encode(l); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// inUse returns the bytes of live objects.
func inUse() int64 {
	runtime.GC()
	runtime.GC()
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	return int64(stats.HeapAlloc)
}
