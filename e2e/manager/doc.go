// Package manager runs the example of adapters/ctrlruntime, before and after this project,
// as processes on a real API server, in turns, and reports what each costs.
package manager
