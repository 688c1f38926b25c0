package snapshot

import "time"

// Group is the state of this process as a member of a group that shares objects.
type Group struct {
	ID   string `json:"id"`
	Name string `json:"name"`
	// Identity is the name of this member, Members those of all.
	Identity string   `json:"identity"`
	Members  []string `json:"members"`
	// Ranges is how many of the 256 ranges it works on, Wanted how many it is about to take,
	// Leaving how many it is about to give up.
	Ranges  int `json:"ranges"`
	Wanted  int `json:"wanted"`
	Leaving int `json:"leaving"`
	// Calls is how many reconciles are in progress.
	Calls int `json:"calls"`
	// Valid reports whether it may work, Renewed when it last renewed its Lease, and Lost how
	// often it has lost all that it had.
	Valid   bool      `json:"valid"`
	Renewed time.Time `json:"renewed,omitzero"`
	Lost    int       `json:"lost"`
	// Error is what its last round of requests has failed with.
	Error string `json:"error,omitempty"`
}

// Fleet is the state of an informer's clusters.
type Fleet struct {
	ID       string    `json:"id"`
	Name     string    `json:"name"`
	Clusters []Cluster `json:"clusters"`
}

// Cluster is the state of a cluster.
type Cluster struct {
	Name string `json:"name"`
	// Phase is New, Listing, Synced, Stale, Ended or Failed.
	Phase           string `json:"phase"`
	Objects         int    `json:"objects"`
	ResourceVersion string `json:"resourceVersion,omitempty"`
	// Received is how many objects the latest list has brought so far, Expected how many it
	// will bring, Lists counts the complete ones.
	Received int `json:"received"`
	Expected int `json:"expected"`
	Lists    int `json:"lists"`
	// LastContact is when it was last heard of.
	LastContact time.Time `json:"lastContact,omitzero"`
	// Stale reports that it has objects and fails, so that they may be others by now.
	Stale bool `json:"stale"`
	// Error, Failures, FailingSince and LastError are like those of an Informer.
	Error        string    `json:"error,omitempty"`
	Failures     int       `json:"failures"`
	FailingSince time.Time `json:"failingSince,omitzero"`
	LastError    string    `json:"lastError,omitempty"`
}
