package source

import "github.com/kubetyped/informer/index"

// Sharder is a Source whose server can be asked for a part of the objects, those whose hash
// is in given ranges. Those of package kube are. See package shard, which shares objects
// among processes.
type Sharder[T index.Object] interface {
	Source[T]
	// InShards returns another source, which asks the server for what the selector
	// selects, see metav1.ListOptions.ShardSelector, and lists its latest state. A server
	// that does not know such selectors ignores them, and sends all objects.
	InShards(selector string) Source[T]
}
