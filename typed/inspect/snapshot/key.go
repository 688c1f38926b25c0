package snapshot

import (
	"encoding/json"
	"time"
)

// Key is what is known of one key.
type Key struct {
	// Time is when the report was made.
	Time      time.Time `json:"time"`
	Namespace string    `json:"namespace,omitempty"`
	Name      string    `json:"name"`
	// Verdicts says in words what is to be known first, the worst first.
	Verdicts []Verdict `json:"verdicts"`
	// Informers, Queues and Expectations have an entry for each part that knows the key.
	Informers    []KeyInformer    `json:"informers"`
	Queues       []KeyQueue       `json:"queues"`
	Expectations []KeyExpectation `json:"expectations"`
	// Without is how many informers do not know it.
	Without int `json:"without"`
}

// Verdict is a sentence about a key, without a full stop.
type Verdict struct {
	Severity Severity `json:"severity"`
	Text     string   `json:"text"`
}

// KeyInformer is what an informer knows of a key.
type KeyInformer struct {
	ID   string `json:"id"`
	Name string `json:"name"`
	// Found reports whether there is an object of that key in the store.
	Found           bool   `json:"found"`
	UID             string `json:"uid,omitempty"`
	ResourceVersion string `json:"resourceVersion,omitempty"`
	// Indexes reports where it is found.
	Indexes []KeyIndex `json:"indexes"`
	// Rejected says why the object, or a later state of it, could not be used.
	Rejected string `json:"rejected,omitempty"`
	// Events are the last events of the key, the latest first; none if no history is kept.
	Events []KeyEvent `json:"events"`
	// Handlers that are in a call for the key now, or whose slowest call was for it.
	Handlers []KeyHandler `json:"handlers"`
	// Object is the object, if contents are shown; Withheld says why it is not there.
	Object   json.RawMessage `json:"object,omitempty"`
	Withheld string          `json:"withheld,omitempty"`
}

// KeyIndex contains the keys of an index under which an object is found.
type KeyIndex struct {
	Index string   `json:"index"`
	Keys  []string `json:"keys"`
	// Count is how many keys there are, even if they are not shown because they may be part
	// of a secret.
	Count int `json:"count"`
}

// KeyEvent is an event of a key.
type KeyEvent struct {
	Type            string    `json:"type"`
	Reason          string    `json:"reason,omitempty"`
	ResourceVersion string    `json:"resourceVersion,omitempty"`
	At              time.Time `json:"at"`
}

// KeyHandler is a handler that a key has kept busy.
type KeyHandler struct {
	Name string `json:"name"`
	// Current and Slowest are the calls that were for the key, nil if they were for others.
	Current *Call `json:"current,omitempty"`
	Slowest *Call `json:"slowest,omitempty"`
}

// KeyQueue is what a queue knows of a key.
type KeyQueue struct {
	ID   string `json:"id"`
	Name string `json:"name"`
	// Known reports that the queue can be asked for the key. Otherwise only what is in lists
	// of its report is known.
	Known bool `json:"known"`
	// WaitingSince is when it began to wait, WorkSince when it was handed out, and
	// DelayedUntil when it is to be added; each of them zero if that is not so.
	WaitingSince time.Time `json:"waitingSince,omitzero"`
	WorkSince    time.Time `json:"workSince,omitzero"`
	DelayedUntil time.Time `json:"delayedUntil,omitzero"`
	// Again reports that it will wait again when work on it has ended.
	Again    bool `json:"again"`
	Priority int  `json:"priority"`
	// Failing reports how it fails, nil if it does not.
	Failing *Failing `json:"failing,omitempty"`
}

// KeyExpectation is what a controller expects for a key.
type KeyExpectation struct {
	ID   string `json:"id"`
	Name string `json:"name"`
	Expectation
}
