package snapshot

// Controller is the state of a controller of another framework, such as those of
// controller-runtime, and of its queue.
type Controller struct {
	ID   string `json:"id"`
	Name string `json:"name"`
	// Workers is how many reconciles run at a time at most, Active how many run now.
	Workers int `json:"workers"`
	Active  int `json:"active"`
	// Succeeded, Requeued and Failed count the reconciles by their result, TerminalErrors,
	// Timeouts and Panics those of the failed ones.
	Succeeded      uint64 `json:"succeeded"`
	Requeued       uint64 `json:"requeued"`
	Failed         uint64 `json:"failed"`
	TerminalErrors uint64 `json:"terminalErrors"`
	Timeouts       uint64 `json:"timeouts"`
	Panics         uint64 `json:"panics"`
	// MeanSeconds is how long a reconcile takes on average.
	MeanSeconds float64 `json:"meanSeconds"`
	// Waiting is how many keys wait, Added and Retries how many were added, and those with a
	// delay or a rate limit.
	Waiting int    `json:"waiting"`
	Added   uint64 `json:"added"`
	Retries uint64 `json:"retries"`
	// LongestSeconds is for how long the reconcile runs that began first.
	LongestSeconds float64 `json:"longestSeconds"`
}
