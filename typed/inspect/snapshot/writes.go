package snapshot

// Writes are the counts of the answers to own writes to an API server.
type Writes struct {
	ID   string `json:"id"`
	Name string `json:"name"` // of the server
	// Taken is how many answers stores have got before the watch, Ignored how many the watch
	// or a later answer was ahead of, and Late how many writes returned before reads had them.
	Taken   uint64 `json:"taken"`
	Ignored uint64 `json:"ignored"`
	Late    uint64 `json:"late"`
	// LeftOut contains the reasons for which answers were left to the watch.
	LeftOut []LeftOut `json:"leftOut"`
}

// LeftOut is how many answers were left to the watch for a reason.
type LeftOut struct {
	Reason  string `json:"reason"`
	Answers uint64 `json:"answers"`
}
