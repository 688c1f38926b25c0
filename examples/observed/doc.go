// Package observed has no code but a test: what has to be added to examples/controller, which
// knows nothing of being observed, so that it has a page, metrics and traces. It is a module
// of its own, since it needs Prometheus' client and OpenTelemetry.
//
// Begin to read at edits_test.go, which is what is added.
package observed
