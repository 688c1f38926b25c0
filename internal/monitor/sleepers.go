package monitor

import (
	"context"

	"github.com/kubetyped/informer/internal/container"
)

// Sleepers are goroutines that sleep until there is something for them. The methods are called
// with a lock of the caller's held, which is given up while a goroutine sleeps. Its zero value
// is empty and ready for use.
//
// A goroutine that is woken is not given anything: it has to look, and may find that another
// one that was awake was faster. At most one is being woken at a time; when it has looked and
// there is more, it wakes the next one. So a burst does not cost a wake-up each.
type Sleepers struct {
	sleeping []*Sleeper
	waking   bool // one was woken and has not looked yet
	free     container.Spare[Sleeper]
}

// Sleeper is one that sleeps, or is about to.
type Sleeper struct {
	place int           // in Sleepers.sleeping, awake if it is not there
	ready chan struct{} // has room for one
}

const awake = -1

// Next returns the sleeper to wake for so much, nil if there is none. The caller gives up the
// lock, then calls Wake.
func (l *Sleepers) Next(much int) *Sleeper {
	if much == 0 || l.waking || len(l.sleeping) == 0 {
		return nil
	}
	l.waking = true
	return l.last()
}

// last takes out who has slept least: what it needs may still be in caches.
func (l *Sleepers) last() *Sleeper {
	s := l.sleeping[len(l.sleeping)-1]
	l.remove(s)
	return s
}

// Wake wakes s, unless it is nil. It needs no lock.
func (s *Sleeper) Wake() {
	if s != nil {
		s.ready <- struct{}{}
	}
}

// WakeAll wakes all sleepers.
func (l *Sleepers) WakeAll() {
	for len(l.sleeping) > 0 {
		l.last().Wake()
	}
}

// Len returns how many sleep.
func (l *Sleepers) Len() int { return len(l.sleeping) }

// Add returns a Sleeper for who is about to sleep. The caller gives up the lock, calls Sleep,
// takes the lock again, and calls Leave with what Sleep has returned.
func (l *Sleepers) Add() *Sleeper {
	s := l.free.Get()
	if s.ready == nil {
		s.ready = make(chan struct{}, 1)
	}
	s.place = len(l.sleeping)
	l.sleeping = append(l.sleeping, s)
	return s
}

// Sleep returns when s was woken, or ctx has ended.
func (s *Sleeper) Sleep(ctx context.Context) (ended bool) {
	select {
	case <-s.ready:
		return false
	case <-ctx.Done():
		return true
	}
}

// Leave ends the use of s, which has ceased to sleep.
func (l *Sleepers) Leave(s *Sleeper, ended bool) {
	if s.place != awake {
		l.remove(s)
	} else {
		if ended {
			<-s.ready // it comes, since Wake needs no lock
		}
		l.waking = false
	}
	l.free.Put(s, container.KeptKeys)
}

// remove makes s one that is awake.
func (l *Sleepers) remove(s *Sleeper) {
	last := len(l.sleeping) - 1
	l.sleeping[s.place] = l.sleeping[last]
	l.sleeping[s.place].place = s.place
	l.sleeping[last] = nil
	l.sleeping = l.sleeping[:last]
	s.place = awake
}
