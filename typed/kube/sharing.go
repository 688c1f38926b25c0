package kube

// WithoutSharing gives every object all of its parts for itself.
//
// Otherwise, parts of objects that are equal, such as the containers of Pods of one
// application, or all that an update leaves as it was, are one value in memory, in all
// informers of the program: it is decoded and kept once. Whoever modifies an object that
// comes from an informer, which nobody may, then modifies others as well, at the same
// time as decoders read them, of which a map can end the program. Objects share nothing
// if the informer has a transform function, and where they pass through source.Map and
// source.FilterMap, since those functions may modify what they are given; and none that
// client-go has decoded share anything.
func WithoutSharing() SourceOption {
	return func(c *sourceConfig) error {
		c.rest.withoutSharing = true
		return nil
	}
}
