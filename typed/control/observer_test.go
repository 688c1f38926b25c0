package control_test

import (
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubetyped/informer/typed"
	"github.com/kubetyped/informer/typed/control"
)

// watchful is an observer that counts what is watched for.
type watchful struct {
	control.Observer
	watched atomic.Int64
}

func (w *watchful) ExpectVersion(version string) (typed.Expected, error) {
	e, err := w.Observer.ExpectVersion(version)
	return counted{e, &w.watched}, err
}

func (w *watchful) ExpectDeleted(obj typed.Identified) (typed.Expected, error) {
	e, err := w.Observer.ExpectDeleted(obj)
	return counted{e, &w.watched}, err
}

// counted is something that a watchful observer expects.
type counted struct {
	typed.Expected
	watched *atomic.Int64
}

func (c counted) Watch(look func()) {
	c.watched.Add(1)
	c.Expected.Watch(look)
}

func (c counted) Unwatch() {
	c.watched.Add(-1)
	c.Expected.Unwatch()
}

func (c counted) Covers(other typed.Expected) bool {
	o, ok := other.(counted)
	return ok && c.Expected.Covers(o.Expected)
}

// observing is an observer that always expects the same.
type observing struct{ typed.Expected }

func (o observing) ExpectVersion(string) (typed.Expected, error)           { return o.Expected, nil }
func (o observing) ExpectDeleted(typed.Identified) (typed.Expected, error) { return o.Expected, nil }

// stalled is expected, and never met.
type stalled struct{}

func (stalled) Met() bool                  { return false }
func (stalled) Watch(func())               {}
func (stalled) Unwatch()                   {}
func (stalled) Covers(typed.Expected) bool { return false }
func (stalled) Listed() bool               { return false }
func (stalled) String() string             { return "stalled" }

// soon is expected, and met as soon as it has been looked at once. It covers
// everything.
type soon struct {
	stalled
	looks int
}

func (s *soon) Met() bool {
	s.looks++
	return s.looks > 1
}

func (s *soon) Covers(typed.Expected) bool { return true }
func (s *soon) Listed() bool               { return false }

// TestExpectOfADelayedKey: any goroutine may add an expectation to a key that waits for
// another one. It may be met before it is noted, and all others of the key with it.
func TestExpectOfADelayedKey(t *testing.T) {
	d := newDesk(t)
	require.NoError(t, d.Expect("k", observing{stalled{}}, "1"))
	assert.False(t, d.handOut("k"))
	require.Equal(t, control.ExpectationStats{Keys: 1, Waiting: 1, PutOff: 1}, d.Stats())

	require.NoError(t, d.Expect("k", observing{&soon{}}, "1"))
	assert.Equal(t, []string{"k"}, d.next(), "it is not lost")
	assert.Equal(t, control.ExpectationStats{PutOff: 1}, d.Stats())

	require.NoError(t, d.Expect("l", observing{&soon{}}, "1"))
	assert.Empty(t, d.next(), "a key that was not put off is not added")
}
