package adapters

// doneChecker is a cache.DoneChecker.
type doneChecker struct {
	name string
	done <-chan struct{}
}

func (c doneChecker) Name() string          { return c.name }
func (c doneChecker) Done() <-chan struct{} { return c.done }

// never is a cache.DoneChecker that is never done.
type never struct{ name string }

func (c never) Name() string        { return c.name }
func (never) Done() <-chan struct{} { return nil }
