package source

import "github.com/kubetyped/informer/index"

// Versions is a Source with several watches, each of which comes to versions by itself, such
// as one of a set of namespaces, a part of a group of package shard, or a fleet. The version
// that its reports come with is the lowest of all; this tells that of one object, for who
// waits for a write of his own. When it has moved, and no report has told, the source calls
// Step without changes, version and done.
type Versions interface {
	// At returns the version up to which all has been reported that happened to the object
	// of a key, "" if it is not known. It takes no lock that is held while something is
	// reported, and is safe for concurrent use. It may go back.
	At(key index.Key) string
}

// VersionAt returns the version of an object as its source has it, "" if the source does not
// tell versions of objects apart.
func VersionAt[T index.Object](src Source[T], key index.Key) string {
	if versions, ok := src.(Versions); ok {
		return versions.At(key)
	}
	return ""
}
