package source

import "github.com/kubetyped/informer/index"

// Staged is an object of a list that is not complete yet, as the Sink that has taken it in
// will keep it: checked, transformed and projected. Only that sink knows its content. Sinks
// make it with Keep, Reject and LeaveOut.
type Staged interface {
	// Key returns the key of an object that is kept or was rejected, the zero Key for one
	// that is left out, or whose key is not known.
	Key() index.Key
	staged()
}

// Keep returns what stands for an object that a sink will keep.
func Keep[T index.Object](obj T) Staged { return keptObject[T]{obj} }

// Reject returns what stands for an object that could not be used, which was reported, by
// its key, the zero Key if that is not known. In the list that is replaced with, it says that
// the object is there, so that it is not taken for deleted.
func Reject(key index.Key) Staged { return rejectedObject{key} }

// Rejected returns the key of an object that could not be used, false if it is another one.
func Rejected(s Staged) (index.Key, bool) {
	r, ok := s.(rejectedObject)
	return r.key, ok
}

// LeaveOut returns what stands for an object that is left out on purpose. A list in
// which all other objects were rejected is empty on purpose then.
func LeaveOut() Staged { return leftOutObject{} }

// Kept returns the objects of a list that a sink will keep, which Keep has got from it, the
// keys of those that were rejected, and whether others were left out on purpose, by
// FilterMap.
func Kept[T index.Object](list []Staged) (objs []T, rejected []index.Key, leftOut bool) {
	objs = make([]T, 0, len(list))
	for _, s := range list {
		switch s := s.(type) {
		case keptObject[T]:
			objs = append(objs, s.object)
		case rejectedObject:
			rejected = append(rejected, s.key)
		case leftOutObject:
			leftOut = true
		}
	}
	return objs, rejected, leftOut
}

// keptObject stands for an object that is kept.
type keptObject[T index.Object] struct{ object T }

func (keptObject[T]) staged() {}

// Key implements Staged.
func (s keptObject[T]) Key() index.Key { return index.KeyOf(s.object) }

// leftOutObject stands for one that is not to be in the store.
type leftOutObject struct{}

func (leftOutObject) staged() {}

// Key implements Staged.
func (leftOutObject) Key() index.Key { return index.Key{} }

// rejectedObject stands for one that could not be used.
type rejectedObject struct{ key index.Key }

func (rejectedObject) staged() {}

// Key implements Staged.
func (s rejectedObject) Key() index.Key { return s.key }

// StageAll passes the objects of a complete list to a sink, and clears the slice, which must
// not be read afterwards.
func StageAll[T index.Object](sink Sink[T], objs []T) []Staged {
	var none T
	list := make([]Staged, len(objs))
	for i, obj := range objs {
		list[i] = sink.Stage(obj, "")
		objs[i] = none
	}
	return list
}
