package kube

import "github.com/kubetyped/informer/typed/source"

// inShards returns the configuration of a source of some hashes. Its lists are consistent:
// another process has acted on a state of the objects which must not be gone back from.
func inShards(c sourceConfig, selector string) sourceConfig {
	c.shards, c.requests.latest = selector, true
	return c
}

// InShards implements source.Sharder.
func (s *restSource[T]) InShards(selector string) source.Source[T] {
	part := *s
	part.sourceConfig = inShards(s.sourceConfig, selector)
	return &part
}

// InShards implements source.Sharder.
func (s *reflectorSource[T]) InShards(selector string) source.Source[T] {
	part := *s
	part.config = inShards(s.config, selector)
	return &part
}
