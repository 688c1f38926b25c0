package monitor

import (
	"errors"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
)

// TestReports: all are made, in their order and without the lock, those included that are added
// meanwhile; and one that panics does not keep the others back.
func TestReports(t *testing.T) {
	var mu sync.Mutex
	var r Reports
	first, later := errors.New("first"), errors.New("later")
	add := func(err error) {
		mu.Lock()
		defer mu.Unlock()
		r.Add(err)
	}
	var reported []error
	report := func(err error) {
		reported = append(reported, err)
		if err == first {
			add(later)
			r.Make(&mu, func(error) { assert.Fail(t, "they are being made already") })
			panic("planted")
		}
	}
	add(first)
	add(nil)
	assert.Panics(t, func() { r.Make(&mu, report) })
	r.Make(&mu, report)
	assert.Equal(t, []error{first, nil, later}, reported)
}

// TestWake: a signal waits for the receiver, and a second one with it does not.
func TestWake(t *testing.T) {
	c := make(chan struct{}, 1)
	assert.False(t, isWoken(c))
	Wake(c)
	Wake(c)
	assert.True(t, isWoken(c))
	assert.False(t, isWoken(c))
	assert.False(t, IsClosed(c))
	close(c)
	assert.True(t, IsClosed(c))
}
