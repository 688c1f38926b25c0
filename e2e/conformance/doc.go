// Package conformance runs the suites of internal/test/conformance, which the
// in-memory server and the informers on it pass, on a real kube-apiserver.
package conformance
