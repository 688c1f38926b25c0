package typed

import "github.com/kubetyped/informer/index"

// staged is an object of a list that is not complete yet, as a sink will keep
// it: checked, transformed and projected. What is in it is known to that sink
// alone.
type staged interface{ staged() }

// stager is a Sink that takes in the objects of a list one by one, as they come,
// so that nobody has to keep them as they were received. All sinks of this
// package are stagers; stagerOf makes one of another.
type stager[T index.Object] interface {
	Sink[T]
	listSink
	// stage takes in an object, once. The version is that of the object, for
	// errors.
	stage(obj T, resourceVersion string) staged
}

// listSink takes complete lists of staged objects, which it owns from then on.
type listSink interface {
	// replaceStaged is Sink.Replace.
	replaceStaged(list []staged, resourceVersion string)
	// replaceNamespaceStaged is Sink.ReplaceNamespace.
	replaceNamespaceStaged(namespace string, list []staged, resourceVersion string)
}

// stagedObject is an object of an informer.
type stagedObject[T index.Object] struct{ object T }

func (stagedObject[T]) staged() {}

// leftOut stands for an object that is not to be in the store.
type leftOut struct{}

func (leftOut) staged() {}

// rejectedObject stands for one that could not be used, which was reported.
type rejectedObject struct{}

func (rejectedObject) staged() {}

// unstage returns the objects of a list, and whether others are not to be in the
// store.
func unstage[T index.Object](list []staged) (objs []T, filtered bool) {
	objs = make([]T, 0, len(list))
	for _, s := range list {
		switch s := s.(type) {
		case stagedObject[T]:
			objs = append(objs, s.object)
		case leftOut:
			filtered = true
		}
	}
	return objs, filtered
}

// stageAll stages the objects of a complete list, and lets go of each of them.
func stageAll[T index.Object](s stager[T], objs []T) []staged {
	var none T
	list := make([]staged, len(objs))
	for i, obj := range objs {
		list[i] = s.stage(obj, "")
		objs[i] = none
	}
	return list
}

// stagerOf returns sink as a stager.
func stagerOf[T index.Object](sink Sink[T]) stager[T] {
	if s, ok := sink.(stager[T]); ok {
		return s
	}
	return lateStager[T]{sink}
}

// lateStager leaves the objects of a list as they are until it is complete.
type lateStager[T index.Object] struct{ Sink[T] }

func (s lateStager[T]) stage(obj T, _ string) staged { return stagedObject[T]{obj} }

func (s lateStager[T]) replaceStaged(list []staged, resourceVersion string) {
	objs, _ := unstage[T](list)
	s.Replace(objs, resourceVersion)
}

func (s lateStager[T]) replaceNamespaceStaged(namespace string, list []staged, resourceVersion string) {
	objs, _ := unstage[T](list)
	s.ReplaceNamespace(namespace, objs, resourceVersion)
}
