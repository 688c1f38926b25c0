package ownwrites

// Awaiting returns for how many deletions a version is awaited that is after them.
func (f *Filter[T]) Awaiting() int { return len(f.waiting) }
