package report

// Writes counts the answers to own writes, see kube.Writes. An answer that
// several informers get counts for each.
type Writes struct {
	// Server is the host of the API server, with its path if there is one, "" before the
	// first configuration.
	Server string
	// Taken counts answers that a store has got before the watch.
	Taken uint64
	// Ignored counts those that the watch, or a later answer, was ahead of, and those that came
	// before the first list.
	Ignored uint64
	// Late counts the writes that have returned before reads had them, as a second was over.
	Late uint64
	// LeftOut counts the others by reason, such as "dry run" or "selector".
	LeftOut map[string]uint64
}
