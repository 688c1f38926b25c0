// Package sinktest makes reports to a source.Sink in few words, for sources of tests.
package sinktest

import (
	"slices"

	"github.com/kubetyped/informer/index"
	"github.com/kubetyped/informer/typed/source"
)

// Put reports that obj is there.
func Put[T index.Object](to source.Sink[T], obj T, version string) {
	to.Change(index.Change[T]{Object: obj}, version)
}

// Delete reports that obj, which is its last state, was deleted.
func Delete[T index.Object](to source.Sink[T], obj T, version string) {
	to.Change(index.Change[T]{Delete: true, Object: obj}, version)
}

// Remove reports that the object of key is gone.
func Remove[T index.Object](to source.Sink[T], key index.Key, reason index.Reason, version string) {
	to.Change(index.Change[T]{Delete: true, Key: &key, Reason: reason}, version)
}

// Bookmark reports that nothing else has changed up to a version.
func Bookmark[T index.Object](to source.Sink[T], version string) { to.Step(nil, version, nil) }

// Replace reports that objs are all that there are in a namespace, or everywhere if that is
// "".
func Replace[T index.Object](to source.Sink[T], namespace string, objs []T, version string) {
	to.Replace(source.List{Namespace: namespace, Items: source.StageAll(to, slices.Clone(objs))}, version)
}

// RemoveNamespace reports that a namespace is not watched any more.
func RemoveNamespace[T index.Object](to source.Sink[T], namespace, version string) {
	to.Replace(source.List{Namespace: namespace, Reason: index.OutOfScope}, version)
}

// ReplacePart reports a list of a part.
func ReplacePart[T index.Object](to source.Sink[T], list []source.Staged, gone []index.Key, reason index.Reason, version string) {
	to.Replace(source.List{Part: true, Items: list, Gone: gone, Reason: reason}, version)
}
