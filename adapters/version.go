package adapters

import "github.com/kubetyped/informer/index"

// versionOf returns the resource version of obj, which may be empty. It returns false for an
// object that cannot have one, such as a cache.ExplicitKey.
func versionOf[T index.Object](obj T) (version string, ok bool) {
	if named, ok := any(obj).(*namedObject); ok && !named.versioned {
		return "", false
	}
	if versioned, ok := any(obj).(interface{ GetResourceVersion() string }); ok {
		return versioned.GetResourceVersion(), true
	}
	return "", false
}

// sameVersion reports whether two states of an object have the same version. As
// in client-go, an empty version equals an empty one, and none does not equal any.
func sameVersion[T index.Object](old, updated T) bool {
	before, ok := versionOf(old)
	if !ok {
		return false
	}
	after, ok := versionOf(updated)
	return ok && before == after
}

// unknownVersion is the version of a store whose last event had an empty one. To
// a source.Sink an empty version says nothing about the store, but client-go's
// store has no version then.
const unknownVersion = "\x00"

// storeVersion returns the version that a store has come to, as it is passed to a source.Sink.
// clientVersion is the inverse.
func storeVersion(version string) string {
	if version == "" {
		return unknownVersion
	}
	return version
}

func clientVersion(version string) string {
	if version == unknownVersion {
		return ""
	}
	return version
}

// storeVersionOf is storeVersion for the version of an object. One that has none
// leaves the store at the version that it is at.
func storeVersionOf[T index.Object](obj T) string {
	version, ok := versionOf(obj)
	if !ok {
		return ""
	}
	return storeVersion(version)
}
