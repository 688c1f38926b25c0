// Package references measures what it costs to read the Secrets that Ingresses name, a few of
// many, on a real API server, in five ways: an informer of client-go, the cache of
// controller-runtime, requests, and by reference, under controller-runtime and without it.
// Each way has a ServiceAccount with the rights that it needs, and the audit log says what it
// has requested. The controller is adapters/ctrlruntime/internal/referring.
//
//	go test ./references -v -timeout 30m -args -secrets 5000 -bytes 100000 -changes 100 -quiet 60s -period 30s \
//		-report $PWD/../benchmarks/results/references.md
//
// Other tests take rights away, give them back, and restart the API server.
package references
