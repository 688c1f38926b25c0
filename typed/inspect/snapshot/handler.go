package snapshot

import "time"

// Handler is the state of a handler of an informer.
type Handler struct {
	Name string `json:"name"`
	// Delivery is its policy, in words.
	Delivery string `json:"delivery"`
	// Synced reports whether it has returned from the last initial object.
	Synced bool `json:"synced"`
	// Backlog is how many events it has not returned from. Growth is its growth per second,
	// computed from earlier reports, 0 if it does not grow.
	Backlog int     `json:"backlog"`
	Growth  float64 `json:"growth"`
	// Panics counts its panics; LastPanic is what it has panicked with last.
	Panics      int       `json:"panics"`
	LastPanic   string    `json:"lastPanic,omitempty"`
	LastPanicAt time.Time `json:"lastPanicAt,omitzero"`
	// Times reports how long calls took, nil if they are not measured.
	Times *Times `json:"times,omitempty"`
	// Current is the call that it is in, Slowest the one that took longest; nil if there is
	// none or it is not known. Stuck reports that Current takes longer than it may.
	Current *Call `json:"current,omitempty"`
	Slowest *Call `json:"slowest,omitempty"`
	Stuck   bool  `json:"stuck"`
}

// Call is a call of a handler for one event.
type Call struct {
	Type string `json:"type"`
	Key  string `json:"key"`
	// Began is when it began, Seconds how long it has taken.
	Began   time.Time `json:"began"`
	Seconds float64   `json:"seconds"`
}

// Times is a histogram of how long calls took.
type Times struct {
	Calls       uint64  `json:"calls"`
	SumSeconds  float64 `json:"sumSeconds"`
	MeanSeconds float64 `json:"meanSeconds"`
	// Recent contains the calls of the last minute, nil if they are not known.
	Recent *Recent `json:"recent,omitempty"`
	// Buckets are in the order of their bounds.
	Buckets []Bucket `json:"buckets"`
}

// Recent is how long the calls took that have returned in the last minute.
type Recent struct {
	Calls       uint64  `json:"calls"`
	MeanSeconds float64 `json:"meanSeconds"`
	MaxSeconds  float64 `json:"maxSeconds"`
}

// Bucket counts the calls that took no longer than UpToSeconds, and longer than the bound of
// the bucket before; the last one has no bound, which is 0.
type Bucket struct {
	UpToSeconds float64 `json:"upToSeconds"`
	Calls       uint64  `json:"calls"`
}
