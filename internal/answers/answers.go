package answers

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"
	"k8s.io/klog/v2"
)

// Reason is why an answer was not taken.
type Reason string

// The reasons.
const (
	Failed      Reason = "failed"      // the write has
	DryRun      Reason = "dry run"     // or it is not known whether it is one
	Subresource Reason = "subresource" // that does not answer the object itself
	Collection  Reason = "collection"  // was deleted
	Form        Reason = "form"        // of the answer: no object of the resource, or metadata alone
	Format      Reason = "format"      // it cannot be decoded from
	Version     Reason = "version"     // that is no number
	Large       Reason = "large"       // for a copy
	Broken      Reason = "broken"      // off, or not what API servers send
	Selector    Reason = "selector"    // of fields that cannot be judged here
	Unordered   Reason = "unordered"   // are the versions of the watch
	Backlog     Reason = "backlog"     // of answers is full
)

// lasts reports whether the next answers of the kind will not be taken, either.
func (r Reason) lasts() bool {
	return r == Format || r == Version || r == Selector || r == Unordered || r == Form
}

// Answers are the answers of one API server.
type Answers struct {
	begun   atomic.Uint64 // writes
	taken   atomic.Uint64
	ignored atomic.Uint64
	late    atomic.Uint64

	mu        sync.Mutex
	host      string                                     // guarded by mu; of the server, "": not known yet
	leftOut   map[Reason]uint64                          // guarded by mu
	said      map[kindOfAnswer]bool                      // guarded by mu; in the log
	receivers map[schema.GroupVersionResource][]receiver // guarded by mu
}

// kindOfAnswer is which answers are left out for a reason that lasts.
type kindOfAnswer struct {
	of     schema.GroupVersionResource
	reason Reason
}

// receiver takes answers, as a Follower does.
type receiver interface {
	// wants reports whether it watches the objects of a namespace.
	wants(namespace string) bool
	// offer hands over an answer, and does not wait. It returns what is closed when reads
	// have it, nil if the caller must not wait for that.
	offer(a *answer) <-chan struct{}
	// ended is closed when nothing more is taken.
	ended() <-chan struct{}
}

// New returns the Answers of a server that the first configuration names.
func New() *Answers {
	return &Answers{leftOut: map[Reason]uint64{}, said: map[kindOfAnswer]bool{}, receivers: map[schema.GroupVersionResource][]receiver{}}
}

// Status is how answers have fared.
type Status struct {
	Server               string // "" before the first configuration
	Taken, Ignored, Late uint64
	LeftOut              map[Reason]uint64
}

// Status returns how answers have fared.
func (w *Answers) Status() Status {
	w.mu.Lock()
	defer w.mu.Unlock()
	return Status{Server: w.host, Taken: w.taken.Load(), Ignored: w.ignored.Load(), Late: w.late.Load(), LeftOut: maps.Clone(w.leftOut)}
}

// leaveOut counts an answer that is not taken, and says in the log, once, what lasts.
func (w *Answers) leaveOut(ctx context.Context, of schema.GroupVersionResource, reason Reason) {
	w.mu.Lock()
	w.leftOut[reason]++
	kind := kindOfAnswer{of, reason}
	first := reason.lasts() && !w.said[kind]
	if first {
		w.said[kind] = true
	}
	w.mu.Unlock()
	if first {
		klog.FromContext(ctx).Info("Answers to own writes are not taken; reads have them when the watch brings them", "resource", of.GroupResource().String(), "reason", string(reason))
	}
}

// Config returns a copy of a configuration whose clients' writes are seen. The requests of
// one for another server fail, and so do those of one that is nil or names no server.
func (w *Answers) Config(config *rest.Config) *rest.Config {
	if config == nil {
		config = &rest.Config{Host: "nil.invalid"}
		config.Wrap(func(http.RoundTripper) http.RoundTripper {
			return failing{errors.New("own writes: the configuration is nil")}
		})
		return config
	}
	own := rest.CopyConfig(config)
	server, _, err := rest.DefaultServerUrlFor(own)
	if err != nil {
		return own // its clients fail with that
	}
	host := strings.TrimSuffix(server.Host+server.Path, "/")
	if first := w.serve(host); first != host {
		err = fmt.Errorf("own writes: this configuration is of the server %s, and the Writes of %s: make one for each server", host, first)
	}
	own.Wrap(func(base http.RoundTripper) http.RoundTripper {
		if err != nil {
			return failing{err}
		}
		return &transport{base: base, answers: w, prefix: strings.TrimSuffix(server.Path, "/")}
	})
	return own
}

// serve returns the server that answers come from, the given one if there was none.
func (w *Answers) serve(host string) string {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.host = cmp.Or(w.host, host)
	return w.host
}

// failing is a transport that can make no requests.
type failing struct{ err error }

// RoundTrip implements http.RoundTripper.
func (f failing) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.Body != nil {
		_ = r.Body.Close() // that is the transport's part
	}
	return nil, f.err
}

// add hands a receiver the answers to writes of a resource, until remove is called.
func (w *Answers) add(of schema.GroupVersionResource, r receiver) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.receivers[of] = append(w.receivers[of], r)
}

func (w *Answers) remove(of schema.GroupVersionResource, r receiver) {
	w.mu.Lock()
	defer w.mu.Unlock()
	left := slices.Clone(w.receivers[of]) // as others may look at the old one
	left = slices.DeleteFunc(left, func(other receiver) bool { return other == r })
	if w.receivers[of] = left; len(left) == 0 {
		delete(w.receivers, of)
	}
}

// receiversOf returns the receivers of answers to writes of a resource in a namespace.
func (w *Answers) receiversOf(of schema.GroupVersionResource, namespace string) (wanting []receiver) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, r := range w.receivers[of] {
		if r.wants(namespace) {
			wanting = append(wanting, r)
		}
	}
	return wanting
}
