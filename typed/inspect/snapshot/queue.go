package snapshot

import "time"

// Queue is the state of a work queue.
type Queue struct {
	ID   string `json:"id"`
	Name string `json:"name"`
	// Waiting is how many keys wait, InWork how many are being worked on, Again how many of
	// those will wait again as they were added meanwhile, and Delayed how many are to be
	// added later.
	Waiting int `json:"waiting"`
	InWork  int `json:"inWork"`
	Again   int `json:"again"`
	Delayed int `json:"delayed"`
	// Retries counts what was added with a delay or a rate limit.
	Retries uint64 `json:"retries"`
	// OldestSeconds is for how long Oldest has waited, the key that has waited longest.
	OldestSeconds float64 `json:"oldestSeconds"`
	Oldest        string  `json:"oldest,omitempty"`
	// Priorities reports how many keys wait at each priority, the highest first.
	Priorities []Priority `json:"priorities"`
	// Work contains the keys that are being worked on, those that began first.
	Work []Work `json:"work"`
	// Failing contains the keys that have failed most often since they last succeeded, of
	// FailingKeys in all.
	Failing     []Failing `json:"failing"`
	FailingKeys int       `json:"failingKeys"`
	// MissedFailures is how many failures were of keys of which nothing more is known, as
	// too many failed.
	MissedFailures uint64 `json:"missedFailures"`
	// Stuck is how many keys are being worked on for longer than they may.
	Stuck int `json:"stuck"`
	// ShutDown reports that the queue was shut down.
	ShutDown bool `json:"shutDown"`
}

// Priority is how many keys wait at a priority.
type Priority struct {
	Priority int `json:"priority"`
	Waiting  int `json:"waiting"`
}

// Work is a key that is being worked on.
type Work struct {
	Key     string    `json:"key"`
	Began   time.Time `json:"began"`
	Seconds float64   `json:"seconds"`
	// Stuck reports that it takes longer than it may.
	Stuck bool `json:"stuck"`
}

// Failing is a key that fails.
type Failing struct {
	Key string `json:"key"`
	// Failures is how often in a row, Since when for the first time, Last for the last time.
	Failures int       `json:"failures"`
	Since    time.Time `json:"since,omitzero"`
	Last     time.Time `json:"last,omitzero"`
	// Error is what it failed with, "" if that is not known.
	Error string `json:"error,omitempty"`
	// Terminal reports that it is not tried again before it is added again.
	Terminal bool `json:"terminal"`
}

// Expectations are the writes that a controller's informers must see.
type Expectations struct {
	ID   string `json:"id"`
	Name string `json:"name"`
	// Keys is how many keys expect something, Waiting how many of them were put off.
	Keys    int `json:"keys"`
	Waiting int `json:"waiting"`
	// PutOff counts how often a key was put off, Expired the keys that continued before all
	// was seen as the time was over.
	PutOff  uint64 `json:"putOff"`
	Expired uint64 `json:"expired"`
	// Pending contains the keys that expect something, those since longest first.
	Pending []Expectation `json:"pending"`
}

// Expectation is what a key expects.
type Expectation struct {
	Key string `json:"key"`
	// Waiting reports whether it was put off.
	Waiting bool `json:"waiting"`
	// For reports what it expects, in words.
	For []string `json:"for"`
	// Since is when the first of it was written, Deadline when the key continues in any case.
	Since    time.Time `json:"since,omitzero"`
	Deadline time.Time `json:"deadline,omitzero"`
}

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
