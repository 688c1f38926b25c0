// Package observed has no code but a test: the lines that give examples/controller, which
// knows nothing of observation, a page, metrics and traces. It is a separate module, since it
// needs Prometheus' client and OpenTelemetry.
//
// Begin to read at edits_test.go, which is what is added.
package observed
