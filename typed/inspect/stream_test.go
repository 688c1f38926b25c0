package inspect_test

import (
	"bufio"
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubetyped/informer/internal/test/rig"
	"github.com/kubetyped/informer/internal/test/sinktest"
	"github.com/kubetyped/informer/typed"
	"github.com/kubetyped/informer/typed/inspect"
	"github.com/kubetyped/informer/typed/inspect/snapshot"
)

// listener is a client that reads events, each of them whole.
type listener struct {
	header http.Header

	mu      sync.Mutex
	code    int
	text    strings.Builder // guarded by mu
	flushes int             // guarded by mu

	deadline time.Time // guarded by mu; to write
	late     int       // guarded by mu; events that came after the deadline
}

func (l *listener) Header() http.Header { return l.header }

func (l *listener) WriteHeader(code int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.code = code
}

func (l *listener) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

func (l *listener) Flush() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.flushes++
}

func (l *listener) SetWriteDeadline(deadline time.Time) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.deadline.IsZero() && time.Now().After(l.deadline) {
		l.late++
	}
	l.deadline = deadline
	return nil
}

// events returns what has come.
func (l *listener) events(t *testing.T) (events []string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for event := range strings.SplitSeq(l.text.String(), "\n\n") {
		if event != "" {
			text, ok := strings.CutPrefix(event, "data: ")
			require.True(t, ok, event)
			events = append(events, strings.TrimSpace(text))
		}
	}
	assert.Equal(t, l.flushes, len(events), "nothing stays in a buffer")
	return events
}

// listen listens until the returned function is called.
func listen(inspector http.Handler, target string) (l *listener, leave func()) {
	l = &listener{header: http.Header{}}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		inspector.ServeHTTP(l, httptest.NewRequestWithContext(ctx, http.MethodGet, target, nil))
	}()
	return l, func() {
		cancel()
		<-done
	}
}

// TestEvents sends a report every two seconds, until the request ends.
func TestEvents(t *testing.T) {
	rig.InBubble(t, func(t *testing.T) {
		r := rig.New(t, typed.WithName("things"))
		r.Start()
		sinktest.Replace(r.Sink, "", []*rig.Thing{rig.At("a", 1)}, "1")
		inspector := newInspector(t, inspect.WithInformers(r.Informer), inspect.WithTitle("live"))
		l, leave := listen(inspector, "/debug/informers/events")
		synctest.Wait()
		assert.Len(t, l.events(t), 1, "the first one comes at once")
		sinktest.Put(r.Sink, rig.At("b", 2), "2")
		time.Sleep(1900 * time.Millisecond)
		synctest.Wait()
		assert.Len(t, l.events(t), 1)
		time.Sleep(200 * time.Millisecond)
		synctest.Wait()
		events := l.events(t)
		require.Len(t, events, 2)
		var report snapshot.Report
		require.NoError(t, json.Unmarshal([]byte(events[1]), &report))
		assert.Equal(t, "live", report.Title)
		assert.Equal(t, 2, report.Informers[0].Objects)
		assert.Equal(t, "text/event-stream", l.header.Get("Content-Type"))
		leave()
		time.Sleep(time.Minute)
		assert.Len(t, l.events(t), 2, "nobody listens")
	})
}

// TestRareEvents: a deadline ends with the report that it is for, as HTTP/2 ends a stream when
// one passes.
func TestRareEvents(t *testing.T) {
	rig.InBubble(t, func(t *testing.T) {
		l, leave := listen(newInspector(t, inspect.WithInterval(time.Minute)), "/events")
		time.Sleep(3*time.Minute + time.Second)
		leave()
		assert.Len(t, l.events(t), 4)
		assert.Zero(t, l.late)
	})
}

// TestUpdatesOfAPage sends the pieces that have changed, and those only.
func TestUpdatesOfAPage(t *testing.T) {
	rig.InBubble(t, func(t *testing.T) {
		idle, busy := rig.New(t, typed.WithName("idle")), rig.New(t, typed.WithName("busy"))
		for _, r := range []*rig.Rig{idle, busy} {
			r.Start()
			sinktest.Replace(r.Sink, "", []*rig.Thing{rig.At("a", 1)}, "1")
		}
		inspector := newInspector(t, inspect.WithInformers(idle.Informer, busy.Informer))
		l, leave := listen(inspector, "/?events=page&sort=name")
		defer leave()
		time.Sleep(3*time.Minute + 31*time.Second) // until all times are shown in minutes
		sinktest.Put(busy.Sink, rig.At("b", 2), "2")
		time.Sleep(2 * time.Second)
		synctest.Wait()
		type update struct {
			Title, Clock string
			Lists        []struct {
				ID    string
				Parts []string
			}
			HTML map[string]string
		}
		events := l.events(t)
		var first, last update
		require.NoError(t, json.Unmarshal([]byte(events[0]), &first))
		require.NoError(t, json.Unmarshal([]byte(events[len(events)-1]), &last))
		require.Len(t, first.Lists[0].Parts, 2)
		atBusy, atIdle := first.Lists[0].Parts[0], first.Lists[0].Parts[1]
		assert.Equal(t, "informers", first.Lists[0].ID)
		assert.Contains(t, first.HTML[atBusy], "busy", "by name")
		assert.Contains(t, first.HTML, atIdle)
		assert.Contains(t, first.HTML, "problems")
		assert.Contains(t, first.HTML, "totals")
		assert.Contains(t, last.HTML, atBusy)
		assert.Contains(t, last.HTML, "totals")
		assert.NotContains(t, last.HTML, atIdle, "it has not changed")
		assert.NotContains(t, last.HTML, "problems")

		shown := len(events)
		time.Sleep(40 * time.Second) // in which four minutes pass
		synctest.Wait()
		aged := 0
		for _, event := range l.events(t)[shown:] {
			var next update
			require.NoError(t, json.Unmarshal([]byte(event), &next))
			if strings.Contains(next.HTML[atIdle], "Last event </span>4 min ago") {
				aged++
			}
		}
		assert.Equal(t, 1, aged, "it is a minute older, once")
	})
}

// TestTooManyListeners refuses those for whom there is no place.
func TestTooManyListeners(t *testing.T) {
	rig.InBubble(t, func(t *testing.T) {
		inspector := newInspector(t, inspect.WithMaxListeners(2), inspect.WithInterval(time.Second))
		_, leaveFirst := listen(inspector, "/events")
		second, leaveSecond := listen(inspector, "/?events=page")
		synctest.Wait()
		w := get(t, inspector, "/events")
		assert.Equal(t, http.StatusServiceUnavailable, w.Code)
		assert.NotEmpty(t, w.Header().Get("Retry-After"))
		leaveFirst()
		third, leaveThird := listen(inspector, "/events")
		time.Sleep(1500 * time.Millisecond)
		assert.Len(t, second.events(t), 2)
		assert.Len(t, third.events(t), 2)
		leaveSecond()
		leaveThird()
		for range 5 { // places are given back
			_, leave := listen(inspector, "/events")
			synctest.Wait()
			leave()
		}
	})
}

// TestClose ends the answers to listeners, and no others.
func TestClose(t *testing.T) {
	rig.InBubble(t, func(t *testing.T) {
		inspector := newInspector(t)
		_, leave := listen(inspector, "/events")
		synctest.Wait()
		inspector.Close()
		inspector.Close()
		synctest.Wait()
		leave() // does not have to end it
		assert.Equal(t, http.StatusServiceUnavailable, get(t, inspector, "/events").Code)
		assert.Equal(t, http.StatusOK, get(t, inspector, "/").Code)
	})
}

// TestServerShutsDown: a server that shuts down ends the answers to listeners, and so does a
// connection that breaks off.
func TestServerShutsDown(t *testing.T) {
	inspector := newInspector(t, inspect.WithInterval(100*time.Millisecond))
	server := httptest.NewUnstartedServer(inspector)
	server.Config.RegisterOnShutdown(inspector.Close)
	server.Config.WriteTimeout = 300 * time.Millisecond
	server.Start()
	defer server.Close()
	answer, err := server.Client().Get(server.URL + "/events")
	require.NoError(t, err)
	defer answer.Body.Close()
	lines := bufio.NewScanner(answer.Body)
	lines.Buffer(nil, 1<<20)
	for range 10 { // which is longer than the server lets others write
		require.True(t, lines.Scan(), lines.Err())
		assert.True(t, strings.HasPrefix(lines.Text(), "data: {"))
		require.True(t, lines.Scan())
	}
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	require.NoError(t, server.Config.Shutdown(ctx))
}
