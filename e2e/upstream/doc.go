// Package upstream runs controller-runtime's own suites on the cache of
// adapters/ctrlruntime and the real API server: those of its caches, clients, builders,
// sources and controllers. Where this cache differs by plan, the spec is listed with
// the reason; all others must pass.
package upstream
