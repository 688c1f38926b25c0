// Package upstream runs the tests of others on this project.
//
// controller-runtime's own suites run on the cache of adapters/ctrlruntime and the real API
// server: those of its caches, clients, builders, sources and controllers. Where this cache
// differs by plan, the spec is listed with the reason; all others must pass.
//
// Kubernetes' own tests run on the factories of adapters/informers, adapters/dynamicinformer and
// adapters/metadatainformer instead of client-go's. By default these are the tests of two
// controllers; make upstream runs those of the scheduler and all controllers.
package upstream
