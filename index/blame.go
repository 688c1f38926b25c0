package index

import "fmt"

// Panics calls what a write of an object calls, the index functions, the functions of
// options and the object's methods, and returns what one of them panics with, as an
// error, nil if none does. Nothing is stored. After a write that has panicked, it tells which object
// is to blame.
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
