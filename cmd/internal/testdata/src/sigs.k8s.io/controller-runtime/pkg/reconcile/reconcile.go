// Package reconcile is a stub.
package reconcile

type Request struct{ Namespace, Name string }

type Result struct{}
