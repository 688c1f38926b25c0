// Package simulated has no code but tests: informers, adapters, queues and controllers in
// simulations. Its suites are what docs/explanation/reliability.md counts seeds of.
package simulated
