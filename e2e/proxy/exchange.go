package proxy

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httputil"
	"strconv"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// exchange is a request on its way through the proxy, and its answer. It belongs to the
// goroutine that serves the request, except manner.
type exchange struct {
	request
	proxy *Proxy
	ctx   context.Context // ends with the client's request, the proxy, or a cut
	leave context.CancelFunc

	bytesPerSecond int    // 0: unlimited
	end            Ending // of the answer, after so many events or bytes
	after          int

	manner Ending // guarded by proxy.mu; how a watch was cut
}

// serve is the handler of every request.
func (p *Proxy) serve(w http.ResponseWriter, r *http.Request) {
	if !p.enter() {
		panic(http.ErrAbortHandler)
	}
	defer p.handlers.Done()
	ctx, leave := context.WithCancel(r.Context())
	defer leave()
	x := &exchange{request: parseRequest(r), proxy: p, ctx: ctx, leave: leave}
	p.count(requests, x.request, 0)
	if x.meetFaults(w) {
		x.hold(false)
		x.forward(w, r.WithContext(ctx))
	}
}

// meetFaults does what the faults of the request say, and returns false if that
// was all: the request has been answered. It panics to abort the request.
func (x *exchange) meetFaults(w http.ResponseWriter) bool {
	for _, f := range x.proxy.meet(x.request) {
		x.proxy.log.Printf("%s: %s", x, f.effect())
		x.sleep(f.Delay)
		switch {
		case f.Abort:
			panic(http.ErrAbortHandler)
		case f.Err != nil:
			x.refuse(w, f.Err)
			return false
		}
		if f.BytesPerSecond > 0 {
			x.bytesPerSecond = f.BytesPerSecond
		}
		if f.End != Whole {
			x.end, x.after = f.End, f.After
		}
	}
	return true
}

// sleep returns after d, or at once when the exchange is over.
func (x *exchange) sleep(d time.Duration) {
	if d <= 0 {
		return
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-x.ctx.Done():
	}
}

// hold waits while the request, or its events, must not pass, unless it is cut or
// over.
func (x *exchange) hold(events bool) {
	p := x.proxy
	p.wait(func() bool { return x.manner != Whole || !p.held(x.request, events) }, x.ctx.Done())
}

// cutHow returns how the watch was cut, or Whole.
func (x *exchange) cutHow() (how Ending) {
	x.proxy.look(func() { how = x.manner })
	return how
}

// refuse answers with an error as API servers do.
func (x *exchange) refuse(w http.ResponseWriter, err error) {
	status := statusOf(err)
	if d := status.Details; d != nil && d.RetryAfterSeconds > 0 {
		w.Header().Set("Retry-After", strconv.Itoa(int(d.RetryAfterSeconds)))
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(int(status.Code))
	x.proxy.count(answers, x.request, int(status.Code))
	if err := json.NewEncoder(w).Encode(status); err != nil {
		x.proxy.log.Printf("%s: the answer cannot be written: %v", x, err)
	}
}

// statusOf returns err as an API status that can be sent.
func statusOf(err error) *metav1.Status {
	var api apierrors.APIStatus
	if !errors.As(err, &api) {
		api = apierrors.NewInternalError(err)
	}
	status := api.Status()
	status.SetGroupVersionKind(schema.GroupVersionKind{Version: "v1", Kind: "Status"})
	if status.Status == "" {
		status.Status = metav1.StatusFailure
	}
	if status.Code < 200 || status.Code > 999 {
		// net/http refuses to send it.
		status.Code = http.StatusInternalServerError
	}
	return &status
}

// forward sends the request to the API server, and its answer to the client. It
// panics to abort the request.
func (x *exchange) forward(w http.ResponseWriter, r *http.Request) {
	defer x.proxy.change(func() { delete(x.proxy.watches, x) })
	if x.verb == "watch" {
		w = &watchWriter{w, x}
	}
	reverse := httputil.ReverseProxy{
		Transport:      x.proxy.transport,
		FlushInterval:  -1, // at once
		ErrorLog:       x.proxy.log,
		Rewrite:        x.rewrite,
		ModifyResponse: x.shape,
		ErrorHandler: func(_ http.ResponseWriter, _ *http.Request, err error) {
			x.proxy.log.Printf("%s: no answer: %v", x, err)
			panic(http.ErrAbortHandler)
		},
	}
	reverse.ServeHTTP(w, r)
}

func (x *exchange) rewrite(r *httputil.ProxyRequest) {
	r.SetURL(x.proxy.target)
	if x.verb == "watch" {
		// The proxy splits the answer into events, which it cannot with a compressed stream.
		r.Out.Header.Del("Accept-Encoding")
	}
}

// shape puts the faults into the API server's answer.
func (x *exchange) shape(answer *http.Response) error {
	x.proxy.count(answers, x.request, answer.StatusCode)
	switch {
	case x.watches(answer.StatusCode):
		b := &body{Closer: answer.Body, x: x, events: true, next: eventsOf(answer)}
		if lag := x.proxy.lag; lag > 0 {
			late := newLagging(x, answer.Body, b.next, lag)
			b.Closer, b.next = late, late.next
		}
		answer.Body = b
	case x.bytesPerSecond > 0 || x.end != Whole:
		answer.Body = &body{Closer: answer.Body, x: x, next: bytesOf(answer)}
	}
	if x.end != Whole {
		// The length would reveal even a clean cut.
		answer.Header.Del("Content-Length")
		answer.ContentLength = -1
	}
	return nil
}

// watches reports whether a status code makes the exchange an open watch.
func (x *exchange) watches(code int) bool {
	return x.verb == "watch" && code == http.StatusOK
}

// watchWriter opens a watch as soon as its status is on the way.
type watchWriter struct {
	http.ResponseWriter
	x *exchange
}

func (w *watchWriter) WriteHeader(code int) {
	w.ResponseWriter.WriteHeader(code)
	if !w.x.watches(code) {
		return
	}
	// It fails if the client has left, as every write that follows will.
	_ = http.NewResponseController(w.ResponseWriter).Flush()
	w.x.proxy.change(func() { w.x.proxy.watches[w.x] = true })
}

// Unwrap is for http.ResponseController.
func (w *watchWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }
