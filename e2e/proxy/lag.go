package proxy

import (
	"bytes"
	"errors"
	"io"
	"sync"
	"time"
)

// mostLagging is how many events of a watch wait at most; then the API server waits.
const mostLagging = 1 << 14

// WithWatchLag makes each event of a watch pass that long after it has come. A later one
// does not wait for that of an earlier one to be over.
func WithWatchLag(lag time.Duration) Option {
	return func(o *options) error {
		if lag < 0 {
			return errors.New("WithWatchLag: the lag is negative")
		}
		o.lag = lag
		return nil
	}
}

// lagging is a watch whose events pass later. A goroutine reads ahead until it is closed.
type lagging struct {
	io.Closer // the API server's body
	x         *exchange
	events    chan lateEvent
	closed    chan struct{}
	close     sync.Once
	reader    sync.WaitGroup
}

type lateEvent struct {
	event []byte
	err   error
	due   time.Time
}

func newLagging(x *exchange, from io.Closer, next func() ([]byte, error), lag time.Duration) *lagging {
	l := &lagging{Closer: from, x: x, events: make(chan lateEvent, mostLagging), closed: make(chan struct{})}
	l.reader.Go(func() {
		for {
			event, err := next()
			select {
			case l.events <- lateEvent{bytes.Clone(event), err, time.Now().Add(lag)}:
			case <-l.closed:
				return
			}
			if err != nil {
				return
			}
		}
	})
	return l
}

// next returns the next event when it is due.
func (l *lagging) next() ([]byte, error) {
	select {
	case e := <-l.events:
		l.x.sleep(time.Until(e.due))
		return e.event, e.err
	case <-l.x.ctx.Done():
		return nil, l.x.ctx.Err()
	}
}

// Close implements io.Closer.
func (l *lagging) Close() error {
	l.close.Do(func() { close(l.closed) })
	err := l.Closer.Close()
	l.reader.Wait()
	return err
}
