// Package sinktest makes reports to a source.Sink in few words, for sources of tests.
package sinktest

import (
	"github.com/kubetyped/informer/index"
	"github.com/kubetyped/informer/typed/source"
)

// Put reports that obj is there.
func Put[T index.Object](to source.Sink[T], obj T, version string) { to.Put(obj, version) }

// Delete reports that obj, which is its last state, was deleted.
func Delete[T index.Object](to source.Sink[T], obj T, version string) { to.Delete(obj, version) }

// Remove reports that the object of key is gone.
func Remove[T index.Object](to source.Sink[T], key index.Key, reason index.Reason, version string) {
	to.Remove(key, reason, version)
}

// Bookmark reports that nothing else has changed up to a version.
func Bookmark[T index.Object](to source.Sink[T], version string) { to.Bookmark(version) }

// Replace reports that objs are all that there are in a namespace, or everywhere.
func Replace[T index.Object](to source.Sink[T], namespace string, objs []T, version string) {
	to.Replace(namespace, objs, version)
}

// ReplaceStaged does so with objects that were staged.
func ReplaceStaged[T index.Object](to source.Sink[T], namespace string, list []source.Staged, version string) {
	to.ReplaceStaged(namespace, list, version)
}

// RemoveNamespace reports that a namespace is not watched any more.
func RemoveNamespace[T index.Object](to source.Sink[T], namespace, version string) {
	to.RemoveNamespace(namespace, version)
}

// ReplacePart reports a list of a part.
func ReplacePart[T index.Object](to source.Sink[T], list []source.Staged, gone []index.Key, reason index.Reason, version string) {
	to.ReplacePart(list, gone, reason, version)
}
