package index

import (
	"fmt"
	"time"
)

// Panics calls what a write of obj would call: the index functions, the functions of
// options, and the methods of obj. If one of them panics, Panics returns that as an
// error, otherwise nil. Nothing is stored. It finds the object to blame after a write has
// panicked.
func (x *Indexer[T]) Panics(obj T) (err error) {
	x.writer.Lock()
	defer x.writer.Unlock()
	defer x.unstage(maxScratch)
	defer func() {
		switch p := recover().(type) {
		case nil:
		case error:
			err = p
		default:
			err = fmt.Errorf("%v", p)
		}
	}()
	at := x.locate(KeyOf(obj))
	x.stage(obj)
	if !at.found {
		return nil
	}
	old := x.objects.at(at.pos)
	if x.recreated != nil {
		x.recreated(old, obj)
	}
	if x.unchanged != nil {
		x.unchanged(old, obj)
	}
	return nil
}

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
