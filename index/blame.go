package index

// Panics calls what a write of an object calls, the index functions, the functions of
// options and the object's methods, and returns what one of them panics with, nil if
// none does. Nothing is stored. After a write that has panicked, it tells which object
// is to blame.
func (x *Indexer[T]) Panics(obj T) (panicked any) {
	x.writer.Lock()
	defer x.writer.Unlock()
	defer x.unstage(maxScratch)
	defer func() { panicked = recover() }()
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
