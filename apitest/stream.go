package apitest

import (
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/kubetyped/informer/apitest/internal/store"
	"github.com/kubetyped/informer/apitest/internal/wire"
)

// batch is how many events a watch takes from the history at once.
const batch = 256

// errEnded ends a watch without an error to the client.
var errEnded = errors.New("the watch has ended")

// command is done by a stream between two events.
type command struct {
	// after is what must have been sent before; with 0 it is done at once, even
	// while delivery is held.
	after uint64
	do    func(*stream) error
}

// stream is one open watch. All but the mailbox belongs to the goroutine that
// serves the request.
type stream struct {
	*listQuery
	request   *request
	format    wire.Format
	out       http.ResponseWriter
	flush     *http.ResponseController
	bookmarks time.Duration // 0: none

	initial []*store.Version // current state still to be sent as added
	endMark bool             // a bookmark ends the initial events
	cursor  *store.Cursor
	sent    uint64 // all up to here has been sent
	dirty   bool   // something is not flushed
	// wantsMark sends a bookmark as soon as everything before it has been sent.
	wantsMark bool

	mu      sync.Mutex
	mailbox []command     // guarded by mu
	awake   chan struct{} // holds one token when there may be something to do
}

// post gives the stream a command.
func (st *stream) post(c command) {
	st.mu.Lock()
	st.mailbox = append(st.mailbox, c)
	st.mu.Unlock()
	st.wake()
}

func (st *stream) wake() {
	select {
	case st.awake <- struct{}{}:
	default:
	}
}

// takeCommands returns the commands that are due, in order.
func (st *stream) takeCommands() []command {
	held := st.request.line.holds()
	st.mu.Lock()
	defer st.mu.Unlock()
	var due, later []command
	for _, c := range st.mailbox {
		if c.after == 0 || !held && st.reached(c.after) {
			due = append(due, c)
		} else {
			later = append(later, c)
		}
	}
	st.mailbox = later
	return due
}

// reached reports whether all up to a revision has been sent.
func (st *stream) reached(revision uint64) bool {
	return len(st.initial) == 0 && !st.endMark && st.sent >= revision
}

// run sends until done is closed, the timeout fires or a command ends it.
func (st *stream) run(done <-chan struct{}, timeout <-chan time.Time) error {
	var tick <-chan time.Time
	if st.options.AllowWatchBookmarks && st.bookmarks > 0 {
		ticker := time.NewTicker(st.bookmarks)
		defer ticker.Stop()
		tick = ticker.C
	}
	for {
		changed, err := st.advance()
		if err != nil {
			return err
		}
		for _, c := range st.takeCommands() {
			if err := c.do(st); err != nil {
				return err
			}
		}
		if changed != closed {
			if err := st.flushed(); err != nil {
				return err
			}
		}
		select {
		case <-done:
			return errEnded
		case <-timeout:
			return errEnded
		case <-changed:
		case <-st.awake:
		case <-tick:
			st.wantsMark = true
		}
	}
}

// closed is a channel that lets run continue at once.
var closed = func() <-chan struct{} { c := make(chan struct{}); close(c); return c }()

// advance sends some of the due events, and returns the channel that announces more: a closed
// one when there is more already, nil while delivery is held.
func (st *stream) advance() (<-chan struct{}, error) {
	if st.request.line.holds() {
		return nil, nil
	}
	if len(st.initial) > 0 || st.endMark {
		return closed, st.sendInitial()
	}
	st.cursor.Bound(st.request.cached())
	next, err := st.cursor.Next(batch)
	if errors.Is(err, store.ErrCompacted) {
		return nil, st.fail(tooOld(st.sent, st.collection.table.Oldest()))
	}
	if err != nil {
		return nil, err
	}
	for _, e := range next.Events {
		if err := st.send(e); err != nil {
			return nil, err
		}
	}
	st.sent = max(st.sent, next.Revision)
	if len(next.Events) > 0 {
		return closed, nil
	}
	if st.wantsMark {
		st.wantsMark = false
		if err := st.bookmark(nil); err != nil {
			return nil, err
		}
	}
	return next.Changed, nil
}

func (st *stream) sendInitial() error {
	n := min(batch, len(st.initial))
	for _, v := range st.initial[:n] {
		v, err := st.collection.view(v)
		if err != nil {
			return st.fail(err)
		}
		if !st.matches(v) {
			continue
		}
		if err := st.event(watch.Added, v.Object); err != nil {
			return err
		}
	}
	st.initial = st.initial[n:]
	if len(st.initial) > 0 {
		return nil
	}
	st.initial = nil
	if !st.endMark {
		return nil
	}
	st.endMark = false
	return st.bookmark(map[string]string{metav1.InitialEventsAnnotationKey: "true"})
}

// send sends a write to the watch, if it is about it.
func (st *stream) send(e *store.Event) error {
	if !st.inNamespace(e) {
		return nil
	}
	e, err := st.collection.viewEvent(e)
	if err != nil {
		return st.fail(err)
	}
	t, obj, ok := st.see(e)
	if !ok {
		return nil
	}
	if obj != e.Current.Object {
		// Left the selection: only watches with this selector see it so.
		return st.event(t, obj)
	}
	return st.write(e.Encoded(store.Variant{MediaType: st.format.MediaType(), Partial: st.format.Partial, Type: t},
		func() ([]byte, error) { return st.format.EncodeEvent(t, obj) }))
}

func (st *stream) event(t watch.EventType, obj runtime.Object) error {
	return st.write(st.format.EncodeEvent(t, obj))
}

// write writes what was encoded, or returns why it was not.
func (st *stream) write(data []byte, err error) error {
	if err != nil {
		return err
	}
	st.dirty = true
	_, err = st.out.Write(data)
	return err
}

func (st *stream) flushed() error {
	if !st.dirty {
		return nil
	}
	st.dirty = false
	return st.flush.Flush()
}

// bookmark sends the revision that the watch has reached.
func (st *stream) bookmark(annotations map[string]string) error {
	return st.event(watch.Bookmark, st.mark(annotations))
}

func (st *stream) mark(annotations map[string]string) runtime.Object {
	mark := st.collection.empty()
	m := metadataOf(mark)
	m.SetResourceVersion(strconv.FormatUint(st.sent, 10))
	if annotations != nil {
		m.SetAnnotations(annotations)
	}
	return mark
}

// fail sends an ERROR event, after which the watch ends.
func (st *stream) fail(cause error) error {
	if err := st.event(watch.Error, statusOf(cause)); err != nil {
		return err
	}
	return errors.Join(errEnded, st.flushed())
}

func tooOld(wanted, oldest uint64) error {
	return apierrors.NewResourceExpired(fmt.Sprintf("too old resource version: %d (%d)", wanted, oldest))
}
