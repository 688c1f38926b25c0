package monitor

import "sync"

// Reports are errors to report by a function of the user's, which may wait for goroutines that
// need the lock under which the errors are added. They are reported in that order, while the
// lock is free. The zero value is ready for use.
type Reports struct {
	waiting []error
	making  bool // a goroutine reports them
}

// Add adds an error, nil for a recovery. The caller holds the lock.
func (r *Reports) Add(err error) { r.waiting = append(r.waiting, err) }

// Make reports all that were added. If another goroutine does so already, it leaves them to
// that one. The caller does not hold the lock.
func (r *Reports) Make(lock sync.Locker, report func(error)) {
	lock.Lock()
	defer lock.Unlock()
	if r.making {
		return
	}
	r.making = true
	defer func() { r.making = false }()
	for len(r.waiting) > 0 {
		err := r.waiting[0]
		r.waiting = r.waiting[1:]
		func() {
			lock.Unlock()
			defer lock.Lock()
			report(err)
		}()
	}
	r.waiting = nil
}
