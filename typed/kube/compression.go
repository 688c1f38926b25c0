package kube

// WithCompressedWatches lets the server compress watches, which saves traffic on a slow
// or expensive network, to half of the bytes or less, for processor time here and on
// the server. kube-apiservers compress watches that begin with a streamed list, each
// event by itself from then on, and no others.
//
// Without it, sources that receive by themselves, as FromREST and FromClient do, ask for
// watches as they are; lists that are not streamed may be compressed. Compression that
// rest.Config disables stays so for all.
func WithCompressedWatches() SourceOption {
	return func(c *sourceConfig) error {
		c.rest.compressed = true
		return nil
	}
}
