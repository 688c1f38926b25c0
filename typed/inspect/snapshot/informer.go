package snapshot

import "time"

// Informer is the state of an informer.
type Informer struct {
	// ID identifies it among all parts of the program. It stays the same while the program
	// runs.
	ID   string `json:"id"`
	Name string `json:"name"`
	// APIVersion, Kind and Resource are what its objects are to the API server, Namespace
	// the one that they are in, "" for any, Selection says which of them it has, "" for all,
	// and Host is that of the API server; each of them "" if it is not known.
	APIVersion string `json:"apiVersion,omitempty"`
	Kind       string `json:"kind,omitempty"`
	Resource   string `json:"resource,omitempty"`
	Namespace  string `json:"namespace,omitempty"`
	Selection  string `json:"selection,omitempty"`
	Host       string `json:"host,omitempty"`
	// Created is where it was made, and Holders are the places that use an informer of a
	// factory, one for each that has not released it.
	Created *CallSite  `json:"created,omitempty"`
	Holders []CallSite `json:"holders"`

	// Phase is New, Syncing, Synced or Stopped.
	Phase string `json:"phase"`
	// Error is the last failure to list or watch, "" if it has worked since; Failures
	// counts those, and FailingSince is when the first of them was. LastError is the last
	// one even if it has worked since.
	Error        string    `json:"error,omitempty"`
	Forbidden    bool      `json:"forbidden,omitempty"` // the API server denies the right to list or watch
	Failures     int       `json:"failures"`
	FailingSince time.Time `json:"failingSince,omitzero"`
	LastError    string    `json:"lastError,omitempty"`

	// ResourceVersion is the version that the store has reached, Ahead how many objects are as
	// own writes were answered, before the watch, AheadVersion the highest version of these,
	// LastEvent when the store was changed last, and LastContact when the source was last
	// heard of.
	ResourceVersion string    `json:"resourceVersion,omitempty"`
	Ahead           int       `json:"ahead,omitempty"`
	AheadVersion    string    `json:"aheadVersion,omitempty"`
	LastEvent       time.Time `json:"lastEvent,omitzero"`
	LastContact     time.Time `json:"lastContact,omitzero"`
	// Followed is what the source follows by name, nil if it follows none.
	Followed *Followed `json:"followed,omitempty"`
	// WatchSince is when the source last began to watch, zero if it has failed since.
	// Watches counts how often it did, Relists the lists after the first one.
	WatchSince time.Time `json:"watchSince,omitzero"`
	Watches    int       `json:"watches"`
	Relists    int       `json:"relists"`

	// Objects is how many are in the store, Events how many changes there were.
	Objects int `json:"objects"`
	Events  int `json:"events"`
	// Received is how many objects the latest list has brought so far, Expected how many it
	// will bring, 0 if the server has not said.
	Received int `json:"received"`
	Expected int `json:"expected"`
	// Queued is how many changes wait to be applied, QueuedMax the most that ever did.
	Queued    int `json:"queued"`
	QueuedMax int `json:"queuedMax"`

	// Traffic is what was received, nil if the source does not report it.
	Traffic *Traffic `json:"traffic,omitempty"`
	// Heap is what the objects take, nil if it was not estimated yet.
	Heap *Heap `json:"heap,omitempty"`
	// Budget is what the informer may take, nil without limits.
	Budget *Budget `json:"budget,omitempty"`
	// FactoryBudget is what all informers of its factory may take together, nil without limits.
	FactoryBudget *Budget `json:"factoryBudget,omitempty"`

	// Rejected counts what was received and could not be used, RejectedNow the objects of
	// which the store has no state, or an earlier one, for that reason, the last of which
	// are RejectedObjects.
	Rejected        int        `json:"rejected"`
	RejectedNow     int        `json:"rejectedNow"`
	RejectedObjects []Rejected `json:"rejectedObjects"`

	Indexes  []Index   `json:"indexes"`
	Handlers []Handler `json:"handlers"`
}

// CallSite is a line of the program.
type CallSite struct {
	Function string `json:"function"`
	File     string `json:"file"`
	Line     int    `json:"line"`
	// Short is the end of the path, and the line, such as "manager/manager.go:45".
	Short string `json:"short"`
}

// Followed counts the names that a source follows, by the state of their objects.
type Followed struct {
	// Held is how many names are held, Idle how many are followed for the rest of their idle
	// time, and Limit how many both may be.
	Held  int `json:"held"`
	Idle  int `json:"idle"`
	Limit int `json:"limit"`
	// Pending is how many have no answer yet, Present and Absent how many objects exist and do
	// not, and Refused how many the server refuses; if it had answered before, they are Present
	// or Absent, too. Unheld is how many cannot be held.
	Pending int `json:"pending"`
	Present int `json:"present"`
	Absent  int `json:"absent"`
	Refused int `json:"refused"`
	Unheld  int `json:"unheld"`
	// Unfollowed are the first 20 of those that are refused or unheld.
	Unfollowed []Unfollowed `json:"unfollowed"`
	// LiveReads counts the reads that were requests, as the name could not be followed.
	LiveReads uint64 `json:"liveReads"`
}

// Unfollowed is a name that cannot be followed.
type Unfollowed struct {
	Key   string    `json:"key"`
	Error string    `json:"error"`
	Since time.Time `json:"since,omitzero"`
}

// Traffic is what a source has received.
type Traffic struct {
	Bytes           uint64  `json:"bytes"`
	Frames          uint64  `json:"frames"`
	DecodingSeconds float64 `json:"decodingSeconds"`
}

// Heap is an estimate of the memory that the objects of an informer take.
type Heap struct {
	// Bytes is the estimate, made from Sampled of Objects objects at the time At.
	Bytes   int64     `json:"bytes"`
	Objects int       `json:"objects"`
	Sampled int       `json:"sampled"`
	At      time.Time `json:"at"`
	// Share is its part of the sum over all informers, from 0 to 1.
	Share float64 `json:"share"`
	// Packed is the state of the objects that are kept as bytes, nil if there are none.
	Packed *Packed `json:"packed,omitempty"`
}

// Packed is the state of objects that are kept as bytes.
type Packed struct {
	Objects int `json:"objects"`
	// Bytes is what they take with their bases, of which there are Bases, RawBytes their size when
	// they came.
	Bytes    int64 `json:"bytes"`
	RawBytes int64 `json:"rawBytes"`
	Bases    int   `json:"bases"`
	// Decoded counts the objects that were decoded from these bytes.
	Decoded         uint64  `json:"decoded"`
	DecodingSeconds float64 `json:"decodingSeconds"`
}

// Budget is what an informer, or a factory, may take.
type Budget struct {
	// Objects and Bytes are the limits, 0 for none.
	Objects int64 `json:"objects"`
	Bytes   int64 `json:"bytes"`
	// Kept is how many objects there were when the limit was last looked at.
	Kept int64 `json:"kept"`
	// HeapBytes is what the objects took when the limit was last looked at, Used the part
	// of the nearer limit that is used, 1 for all of it, and Since when that came to 0.8.
	HeapBytes int64     `json:"heapBytes"`
	Used      float64   `json:"used"`
	Since     time.Time `json:"since,omitzero"`
}

// Rejected is an object that could not be used.
type Rejected struct {
	Key   string `json:"key"`
	Error string `json:"error"`
}

// Index is the state of an index.
type Index struct {
	Name string `json:"name"`
	// Keys is how many keys it has, Largest how many objects are under the one that has
	// most.
	Keys    int `json:"keys"`
	Largest int `json:"largest"`
}
