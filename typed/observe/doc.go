// Package observe contains options that observe informers: budgets, metrics, the times of
// handlers and index functions, the history of objects, and modifications of shared objects. An
// informer without them costs nothing more.
//
// Where an option is given twice, to a factory and to one of its informers, say, the later one
// counts. Functions that are given to several informers may be called at the same time.
package observe
