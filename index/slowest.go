package index

import "time"

// Slowest calls the index functions for an object, each by itself, and returns the name of the
// slowest one and its time, to explain a slow write. Without indexes it returns zero. A panic
// of a function reaches the caller. Nothing is stored.
func (x *Indexer[T]) Slowest(obj T) (name string, took time.Duration) {
	x.writer.Lock()
	defer x.writer.Unlock()
	defer x.unstage(maxScratch)
	for _, index := range x.indexes {
		began := time.Now()
		index.stage(obj)
		if t := time.Since(began); t > took || name == "" {
			name, took = index.Name(), t
		}
	}
	return name, took
}
