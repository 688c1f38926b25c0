package inspect

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"sync"
	"time"

	"github.com/kubetyped/informer/internal/monitor"
)

// writeTimeout is how long a listener may take to receive a report.
const writeTimeout = 10 * time.Second

// streams are the listeners. A report that is sent to one is sent to others as well, if they
// ask soon after.
type streams struct {
	mu     sync.Mutex
	number int           // guarded by mu
	closed chan struct{} // guarded by mu; nil: not made yet

	making sync.Mutex // held while a report is made
	latest *frame     // guarded by making; without pieces if no listener has asked for a page
	shown  *frame     // guarded by making; the last one with pieces
}

// enter takes a place among n listeners, and reports whether there was one. It returns what
// is closed when listeners are to go.
func (s *streams) enter(n int) (closed <-chan struct{}, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed == nil {
		s.closed = make(chan struct{})
	}
	if monitor.IsClosed(s.closed) || s.number >= n {
		return nil, false
	}
	s.number++
	return s.closed, true
}

// leave gives a place back.
func (s *streams) leave() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.number--
	if s.number == 0 {
		s.making.Lock()
		s.latest, s.shown = nil, nil
		s.making.Unlock()
	}
}

// close ends the streams of all listeners.
func (s *streams) close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed == nil {
		s.closed = make(chan struct{})
	}
	if !monitor.IsClosed(s.closed) {
		close(s.closed)
	}
}

// frame returns one that is not older than half of the interval, with the pieces of a page
// if they are wanted.
func (s *streams) frame(ctx context.Context, i *Inspector, page bool) *frame {
	s.making.Lock()
	defer s.making.Unlock()
	parts := i.settings()
	if s.latest == nil || time.Since(s.latest.report.Time) > parts.interval/2 {
		report := i.report(ctx, &parts)
		s.latest = &frame{report: &report}
	}
	if page && s.latest.pieces == nil {
		s.latest = newFrame(s.latest.report, "", s.shown)
		s.shown = s.latest
	}
	return s.latest
}

// Close ends the streams of listeners, and rejects new ones. All else continues to be
// answered. It is for servers that shut down, which would wait for open pages:
//
//	server.RegisterOnShutdown(inspector.Close)
func (i *Inspector) Close() { i.streams.close() }

// stream sends reports, as JSON or as updates of a page, until the request ends.
func (i *Inspector) stream(w http.ResponseWriter, r *http.Request, parts *settings, page bool) {
	closed, ok := i.streams.enter(parts.listeners)
	if !ok {
		w.Header().Set("Retry-After", "10")
		http.Error(w, "too many listen, or the program ends", http.StatusServiceUnavailable)
		return
	}
	defer i.streams.leave()
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("X-Accel-Buffering", "no") // for proxies that would wait for more
	w.WriteHeader(http.StatusOK)
	if r.Method == http.MethodHead {
		return
	}
	ticker := time.NewTicker(parts.interval)
	defer ticker.Stop()
	var last *frame
	for {
		next := i.streams.frame(r.Context(), i, page)
		var event any = next.report
		if page {
			event = next.since(last, r.URL.Query().Get("sort"))
		}
		if send(w, event) != nil {
			return
		}
		last = next
		select {
		case <-ticker.C:
		case <-closed:
			return
		case <-r.Context().Done():
			return
		}
	}
}

// send sends an event.
func send(w http.ResponseWriter, event any) error {
	var b bytes.Buffer
	b.WriteString("data: ")
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false) // what has markup in it is no markup here
	if err := encoder.Encode(event); err != nil {
		return err
	}
	b.WriteByte('\n')
	control := http.NewResponseController(w)
	_ = control.SetWriteDeadline(time.Now().Add(writeTimeout)) // where that is possible
	if _, err := w.Write(b.Bytes()); err != nil {
		return err
	}
	if err := control.Flush(); err != nil {
		return err
	}
	_ = control.SetWriteDeadline(time.Time{}) // HTTP/2 ends a stream when it passes, also between reports
	return nil
}
