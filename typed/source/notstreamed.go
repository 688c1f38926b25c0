package source

import "errors"

// ErrNotStreamed is what a report wraps of a streamed list (WatchList) that a source has
// given up: its objects are listed the plain way. The informer logs it, counts it
// (typed.Status.NotStreamed), and does not take it for a failure.
var ErrNotStreamed = errors.New("a streamed list was given up")
