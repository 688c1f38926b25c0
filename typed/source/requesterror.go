package source

// RequestError is the failure of a list or a watch, so that each is counted separately.
// Sources that make requests themselves, as those of package kube do, report it; of several
// namespaces or clusters, the first failure decides.
type RequestError struct {
	// Watch is set for a watch, except one that streams a list which is not complete.
	Watch bool
	// Err is the failure.
	Err error
}

// Error implements error: the text is that of Err.
func (e *RequestError) Error() string { return e.Err.Error() }

// Unwrap returns Err.
func (e *RequestError) Unwrap() error { return e.Err }
