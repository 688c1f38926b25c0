package rig

import (
	"fmt"
	"sync"
)

// Complaints are what assertions report, to be looked at later. They are for model tests in
// bubbles: a failure that ends the goroutine would leave the bubble with goroutines that still
// run.
type Complaints struct {
	mu   sync.Mutex
	List []string // guarded by mu
}

// Errorf implements assert.TestingT.
func (c *Complaints) Errorf(format string, args ...any) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.List = append(c.List, fmt.Sprintf(format, args...))
}
