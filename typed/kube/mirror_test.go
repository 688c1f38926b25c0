package kube_test

import (
	"context"
	"errors"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubetyped/informer/index"
	"github.com/kubetyped/informer/typed/source"
)

// mirror contains the objects that a source reports to its sink. Tests of how a type is decoded use it: an
// informer would show no more, and takes much longer to compile, once for each type.
type mirror struct {
	ctx   context.Context // ends with the test
	calls sync.WaitGroup  // back to the source

	mu       sync.Mutex
	synced   bool                       // guarded by mu
	version  int                        // guarded by mu
	objects  map[index.Key]index.Object // guarded by mu
	rejected map[index.Key]error        // guarded by mu
	moved    chan struct{}              // guarded by mu; closed by the next report
}

func newMirror() *mirror {
	return &mirror{objects: map[index.Key]index.Object{}, rejected: map[index.Key]error{}, moved: make(chan struct{})}
}

// mirrored runs a source until the test ends.
func mirrored[T index.Object](t *testing.T, src source.Source[T]) *mirror {
	t.Helper()
	m := newMirror()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	m.ctx = ctx
	var running sync.WaitGroup
	running.Go(func() { assert.NoError(t, src.Run(ctx, &mirrorSink[T]{to: m})) })
	t.Cleanup(func() {
		cancel()
		running.Wait()
		m.calls.Wait()
	})
	return m
}

// change applies a report, whose version is "" if it moves none.
func (m *mirror) change(version string, apply func()) {
	m.mu.Lock()
	defer m.mu.Unlock()
	apply()
	if n, err := strconv.Atoi(version); err == nil {
		m.version = n
	}
	close(m.moved)
	m.moved = make(chan struct{})
}

// waitUntil waits until a condition holds, which is checked after each report.
func (m *mirror) waitUntil(t *testing.T, holds func() bool) {
	t.Helper()
	for {
		m.mu.Lock()
		held, moved := holds(), m.moved
		m.mu.Unlock()
		if held {
			return
		}
		select {
		case <-moved:
		case <-m.ctx.Done():
			require.NoError(t, m.ctx.Err(), "the source has not reported it")
		}
	}
}

// waitForSync waits for the first list.
func (m *mirror) waitForSync(t *testing.T) {
	t.Helper()
	m.waitUntil(t, func() bool { return m.synced })
}

// waitForVersion waits for all that has happened up to a resource version.
func (m *mirror) waitForVersion(t *testing.T, version string) {
	t.Helper()
	n, err := strconv.Atoi(version)
	require.NoError(t, err)
	m.waitUntil(t, func() bool { return m.synced && m.version >= n })
}

// all returns the objects, in no order.
func (m *mirror) all() (objects []index.Object) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, obj := range m.objects {
		objects = append(objects, obj)
	}
	return objects
}

// get returns the object of a key, which has to be there.
func (m *mirror) get(t *testing.T, key index.Key) index.Object {
	t.Helper()
	m.mu.Lock()
	defer m.mu.Unlock()
	require.Contains(t, m.objects, key)
	return m.objects[key]
}

// rejection returns the error of an object that could not be used, nil if there is none.
func (m *mirror) rejection(key index.Key) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.rejected[key]
}

// replace applies a list of everything.
func (m *mirror) replace(l source.List, version string) {
	kept, rejected, _ := source.Kept[index.Object](l.Items)
	m.change(version, func() {
		objects := map[index.Key]index.Object{}
		for _, key := range rejected {
			if obj, ok := m.objects[key]; ok {
				objects[key] = obj
			}
		}
		for _, obj := range kept {
			objects[index.KeyOf(obj)] = obj
		}
		m.objects, m.synced = objects, true
	})
	if l.Done != nil {
		m.calls.Go(l.Done)
	}
}

// report keeps the error of an object that could not be used.
func (m *mirror) report(err error) {
	var rejected *source.RejectedError
	if errors.As(err, &rejected) {
		m.change("", func() { m.rejected[rejected.Key] = err })
	}
}

// mirrorSink is the sink of a mirror, the part that is compiled for each type.
type mirrorSink[T index.Object] struct{ to *mirror }

// Replace implements source.Sink.
func (s *mirrorSink[T]) Replace(l source.List, version string) { s.to.replace(l, version) }

// Report implements source.Sink.
func (s *mirrorSink[T]) Report(err error) { s.to.report(err) }

// Progress implements source.Sink.
func (*mirrorSink[T]) Progress(int, int) {}

// Stage implements source.Sink.
func (*mirrorSink[T]) Stage(obj T, _ string) source.Staged { return source.Keep[index.Object](obj) }

// Change implements source.Sink.
func (s *mirrorSink[T]) Change(c index.Change[T], version string) {
	s.Step([]index.Change[T]{c}, version, nil)
}

// Step implements source.Sink.
func (s *mirrorSink[T]) Step(changes []index.Change[T], version string, done func()) {
	s.to.change(version, func() {
		for _, c := range changes {
			switch {
			case !c.Delete:
				s.to.objects[index.KeyOf[index.Object](c.Object)] = c.Object
			case c.Key != nil:
				delete(s.to.objects, *c.Key)
			default:
				delete(s.to.objects, index.KeyOf[index.Object](c.Object))
			}
		}
	})
	if done != nil {
		s.to.calls.Go(done)
	}
}

// Decoding implements source.Sink.
func (s *mirrorSink[T]) Decoding() source.Decoding[T] {
	return source.Decoding[T]{Held: func(key index.Key) (T, bool) {
		s.to.mu.Lock()
		defer s.to.mu.Unlock()
		obj, ok := s.to.objects[key].(T)
		return obj, ok
	}}
}
