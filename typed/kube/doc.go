// Package kube talks to a Kubernetes API server: with sources that list and watch, factories
// for a cluster, and typed writes. It is the only core package of this module that knows HTTP.
// Leader election is in package election, because it links all of client-go's informers and
// clients.
//
// [FromClient] is a source on a generated client, [FromREST] one that needs none and
// decodes objects itself, on all cores, and [FromListerWatcher] one on whatever lists
// and watches. [NewFactory] and [For] share informers of a cluster.
//
// [NewWriter] writes the objects that FromREST reads: custom resources need a struct
// with JSON tags, and neither generated code nor a scheme.
//
// Read client.go and reflector.go first: all sources lead there, to client-go's
// cache.Reflector, whose requests go through retryinglisterwatcher.go and whose objects come
// out at reflectorstore.go. Then rest.go, with restlist.go for lists, restwatch.go for
// watches, and restclient.go for requests. writer.go is separate: document.go is its content,
// writerequest.go its requests.
package kube
