package source

import "github.com/kubetyped/informer/index"

// Versions is a Source with several watches, each of which comes to versions by itself, such
// as one of a set of namespaces, a part of a group of package shard, or a fleet. The version
// that its reports come with is the lowest of all; this returns the version of one object, for
// a wait for its write. When it has moved without another report, the source calls Step
// without changes, version and done.
type Versions interface {
	// At returns the version up to which all has been reported that happened to the object
	// of a key, "" if it is not known. It takes no lock that is held while something is
	// reported, and is safe for concurrent use. It may go back.
	At(key index.Key) string
}

// VersionAt returns the version that the source has reached for an object, "" if the source
// does not distinguish objects.
func VersionAt[T index.Object](src Source[T], key index.Key) string {
	if versions, ok := src.(Versions); ok {
		return versions.At(key)
	}
	return ""
}
