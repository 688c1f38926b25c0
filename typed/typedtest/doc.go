// Package typedtest is an in-memory Kubernetes API server over HTTP, for tests
// and demonstrations: what net/http/httptest is to net/http.
package typedtest
