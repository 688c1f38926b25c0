// Package ownwrites measures what controllers make of caches that are late: five ways to read
// what was just written, on a real API server, while a proxy has watches come later. The
// controller is adapters/ctrlruntime/internal/staleness.
//
//	go test ./ownwrites -v -args -parents 16 -children 10 -lags 0s,10ms,1s:5,30s:2 \
//		-report $PWD/../benchmarks/results/ownwrites.md
package ownwrites
