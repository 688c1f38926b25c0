package kube

// WithoutDeduplication gives every object all of its parts for itself.
//
// By default, identical parts of objects, such as the containers of Pods of one application,
// or the unchanged fields of an update, are decoded and stored once in the program. A program
// that modifies an object of an informer, which is forbidden, then also modifies others, while
// decoders read them; a write to a map can crash the program. Deduplication is off with a
// transform function, with source.Map and source.FilterMap, because their functions may modify
// objects, and for objects that client-go decodes.
func WithoutDeduplication() SourceOption {
	return func(c *sourceConfig) error {
		c.rest.withoutDeduplication = true
		return nil
	}
}
