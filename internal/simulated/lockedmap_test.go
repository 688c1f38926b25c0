package simulated_test

import (
	"sync"
	"time"

	"github.com/kubetyped/informer/index"
)

// lockedMap is a map that several goroutines use.
type lockedMap struct {
	mu sync.Mutex
	m  map[index.Key]time.Time
}

func (l *lockedMap) do(f func(map[index.Key]time.Time)) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.m == nil {
		l.m = map[index.Key]time.Time{}
	}
	f(l.m)
}
