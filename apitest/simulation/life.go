package simulation

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"strconv"
	"sync"
	"syscall"
	"time"
)

// life is a process from one start to its end. It carries the requests of that life, as
// the transport of the client configuration that the process gets.
type life struct {
	process *process
	number  int
	ctx     context.Context
	cancel  context.CancelFunc
	ending  sync.Once
	dead    chan struct{} // closed by a crash: nothing gets through any more
	done    chan struct{} // closed when run has returned

	mu      sync.Mutex
	asked   map[string]int // guarded by mu; how often a request was made
	streams map[*stream]struct{}
	always  []check // guarded by mu; what the process has added itself
	goals   []goal  // guarded by mu
}

// errCrashed is what requests of a process end with that has crashed.
var errCrashed = errors.New("simulation: the process has crashed")

// name returns what traces call the life: the process, and which of its lives it is.
func (l *life) name() string { return l.process.name + "#" + strconv.Itoa(l.number) }

// request is a request on its way.
type request struct {
	*http.Request
	what     target
	text     []byte        // its body
	random   *rand.Rand    // decides what happens to it; from the seed and identity
	identity string        // the same in each run of a seed
	gone     chan struct{} // closed when the sender no longer waits for the answer
}

// isClosed reports whether a channel is closed on which nothing is sent.
func isClosed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

// newRequest reads the request to send.
func (l *life) newRequest(r *http.Request) (*request, error) {
	what := parseTarget(r)
	one := &request{Request: r, what: what, gone: make(chan struct{})}
	if r.Body != nil {
		defer func() { _ = r.Body.Close() }()
		text, err := io.ReadAll(r.Body)
		if err != nil {
			return nil, err
		}
		one.text = text
	}
	identity := l.name() + " " + what.String()
	l.mu.Lock()
	l.asked[identity]++
	one.identity = identity + " " + strconv.Itoa(l.asked[identity])
	l.mu.Unlock()
	one.random = l.process.world.random(one.identity)
	return one, nil
}

// answer is what comes back.
type answer struct {
	response *http.Response
	err      error
}

// RoundTrip implements http.RoundTripper. The request travels in its own goroutine: it may
// arrive after its sender has given up, or is no more.
func (l *life) RoundTrip(r *http.Request) (*http.Response, error) {
	one, err := l.newRequest(r)
	if err != nil {
		return nil, err
	}
	if isClosed(l.dead) {
		return nil, errCrashed
	}
	if r.Context().Err() != nil {
		return nil, context.Cause(r.Context())
	}
	answers := make(chan answer, 1)
	l.process.world.carrying.Go(func() { answers <- l.carry(one) })
	select {
	case got := <-answers:
		l.process.world.stir()
		return got.response, got.err
	case <-r.Context().Done():
		err = l.reason(context.Cause(r.Context()))
	case <-l.dead:
		err = errCrashed
	}
	close(one.gone)
	l.process.world.carrying.Go(func() { discard(<-answers) })
	return nil, err
}

// reason returns why a request ends whose context has ended: a crash ends both.
func (l *life) reason(err error) error {
	if isClosed(l.dead) {
		return errCrashed
	}
	return err
}

// discard ends an answer that no sender waits for.
func discard(got answer) {
	if got.response != nil {
		_ = got.response.Body.Close()
	}
}

// carry takes a request to the server, and the answer back.
func (l *life) carry(one *request) answer {
	p, w := l.process, l.process.world
	gone := one.gone
	if one.what.writes() && one.random.IntN(2) == 0 {
		gone = nil // it arrives even if its sender no longer waits, and no earlier for that
	}
	fate := p.meet(l, one)
	p.travel(one.random, towards, fate.late, gone)
	if isClosed(gone) {
		w.note(l.name(), "%s is given up before it arrives", one.what)
		return answer{err: syscall.ECONNRESET}
	}
	if fate.crashBefore {
		p.crash(l, "at "+one.what.String()+", before it", fate.back)
		return answer{err: errCrashed}
	}
	if fate.refusal != nil {
		w.note(l.name(), "%s is refused: %d", one.what, fate.refusal.status.Code)
		p.travel(one.random, back, 0, one.gone)
		return answer{response: fate.refusal.response(one.Request)}
	}
	got := l.perform(one)
	w.stir()
	if fate.crashAfter {
		discard(got)
		p.crash(l, "at "+one.what.String()+", after it", fate.back)
		return answer{err: errCrashed}
	}
	p.travel(one.random, back, 0, one.gone)
	if fate.lose {
		discard(got)
		w.note(l.name(), "does not get the answer to %s", one.what)
		return answer{err: syscall.ECONNRESET}
	}
	return got
}

// perform lets the server of the process answer a request.
func (l *life) perform(one *request) answer {
	p, w := l.process, l.process.world
	srv := p.serverNow()
	ctx, cancel := context.WithCancel(w.ctx)
	r := one.Clone(ctx)
	r.Header.Set("User-Agent", p.agent())
	r.Header.Del("Accept-Encoding")
	if one.text != nil {
		r.Body = io.NopCloser(bytes.NewReader(one.text))
		r.GetBody = nil
	}
	response, err := srv.trip(r)
	if err != nil {
		cancel()
		w.note(l.name(), "%s fails: %v", one.what, err)
		return answer{err: err}
	}
	response.Request = one.Request
	if one.what.verb == "watch" && response.StatusCode == http.StatusOK {
		w.note(l.name(), "%s begins", one.what)
		s := newStream(l, one, srv.number, response.Body, cancel)
		response.Body = s
		return answer{response: response}
	}
	defer cancel()
	text, err := io.ReadAll(response.Body)
	_ = response.Body.Close()
	if err != nil {
		return answer{err: fmt.Errorf("%s: %w", one.what, err)}
	}
	w.noteAnswer(l.name(), p.name, one.what, response, text)
	response.Body = io.NopCloser(bytes.NewReader(text))
	return answer{response: response}
}

// latency returns how long something travels: milliseconds as a rule, sometimes much
// longer. It is never the same twice, which gives everything an order by the seed.
func latency(random *rand.Rand) time.Duration {
	longest := 5 * time.Millisecond
	switch random.IntN(40) {
	case 0:
		longest = 2 * time.Second
	case 1, 2, 3:
		longest = 100 * time.Millisecond
	}
	return time.Duration(1 + random.Int64N(int64(longest)))
}

// add and remove note the open watches of a life.
func (l *life) add(s *stream) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.streams[s] = struct{}{}
}

func (l *life) remove(s *stream) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.streams, s)
}
