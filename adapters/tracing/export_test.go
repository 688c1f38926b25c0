package tracing

// Underway returns how many objects are remembered.
func (e *Events) Underway() int { return int(e.underway.size.Load()) }

// Underway returns how many keys are remembered.
func (q *Queue[K]) Underway() int { return int(q.causes.size.Load()) }
