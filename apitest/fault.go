package apitest

import (
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/watch"
)

// Fault is something that goes wrong with requests for resources, or with their
// answers: a rule that says with which, and what. Empty fields match everything. A
// fault without an effect does nothing, but Times counts.
type Fault struct {
	// Verb is get, list, watch, create, update, patch, delete or
	// deletecollection.
	Verb string
	// Resource is a plural, with its group ("deployments.apps") or of any group
	// ("deployments"). It stands for the subresources as well, unless it names one
	// ("deployments/scale").
	Resource string
	// Namespace and Name are those in the request's URL.
	Namespace, Name string
	// UserAgent is what the User-Agent header begins with: that of a rest.Config
	// distinguishes the clients of a test.
	UserAgent string
	// Open is about watches that are open, once, and not about requests that come
	// later.
	Open bool
	// Times ends the fault after so many requests; with 0 or less it lasts until
	// it is removed.
	Times int

	// Way says where the fault is: on the way to the server, on the way back, or, by default,
	// on both. With Answers, Err, End and HalfOpen let the request take effect, without an
	// answer to the client. Watches have no such effect.
	Way Way

	// Latency is how long bytes travel: requests to the server, and answers, events of
	// watches among them, to the client. The order of bytes is kept.
	Latency time.Duration
	// Bandwidth is how many bytes of an answer travel in a second; with 0 or less,
	// as many as there are.
	Bandwidth int
	// Freeze stops all bytes until the fault is removed. Connections stay open, without an
	// error. A write arrives then, even if its client has given up.
	Freeze bool
	// HalfOpen makes the server lose the connection, while the client considers it open: it
	// receives nothing, and its bytes are lost, until the fault is removed. Then the
	// connection is reset.
	HalfOpen bool

	// Err refuses a request. It is answered as an API status, with Retry-After if it
	// has one, such as apierrors.NewTooManyRequests(message, seconds); what is not an
	// API status becomes 500. An open watch gets it as an ERROR event, and ends.
	Err error
	// End, unless Whole, ends the request without an answer, or a watch.
	End Ending
	// Hold lets watches begin, and then sends them no events until the fault is removed, like
	// an overloaded server: a watch whose events were compacted meanwhile gets an error. They
	// can be ended.
	Hold bool
	// Lag stops the server's watch cache until the fault is removed; a cache that has missed
	// what is compacted meanwhile is made again. As with real servers,
	//
	//   - what comes from the cache is of the past: lists and gets at the resource
	//     version "0", and events of watches, bookmarks included,
	//   - consistent lists, without a version, wait up to three seconds for the cache,
	//     and then come from the store, and gets at once,
	//   - lists, gets and streamed lists not older than a version that the cache does
	//     not have yet wait for it as long, and then fail: "Too large resource
	//     version", with status 504 and Retry-After;
	//   - a watch from such a version has no events.
	//
	// A watch that has missed compacted writes gets an error when it continues.
	Lag bool
	// Event, if it has an object, is sent to watches, whatever it is: an object
	// without a name, of a wrong kind, an unknown type. It comes after what was
	// written before. The object is sent as it is and must carry its kind; watches
	// that cannot spell it, as protobuf cannot unstructured objects, break off. A
	// Bookmark without an object is the server's own, for watches that allow them.
	Event watch.Event
	// Bytes are written into the answers of watches, after what was written before.
	Bytes []byte
}

// Way is one way of a connection, or both.
type Way int

const (
	// Both is there and back.
	Both Way = iota
	// Requests is what clients send.
	Requests
	// Answers is what the server sends.
	Answers
)

// Ending is how a request ends before its time.
type Ending int

const (
	// Whole is no ending: the answer comes as it is.
	Whole Ending = iota
	// Clean ends a watch as a server does whose timeout has come: after a whole
	// event, without an error. It does nothing to other requests.
	Clean
	// Abrupt closes the connection: before an answer, or after a whole event.
	Abrupt
	// Torn is Abrupt in the middle of an event of a watch, of which clients read the
	// first half.
	Torn
	// Reset resets the connection, as the kernel does for a process that has died:
	// clients get ECONNRESET.
	Reset
)

// matches reports whether a request is one of those the fault is about.
func (f *Fault) matches(r *request) bool {
	return (f.Verb == "" || f.Verb == r.verb) &&
		r.target().matches(f.Resource) &&
		(f.Namespace == "" || f.Namespace == r.namespace) &&
		(f.Name == "" || f.Name == r.name) &&
		strings.HasPrefix(r.UserAgent(), f.UserAgent)
}

// refuses reports whether a request is not answered as it would be, and no other
// fault matters after this one.
func (f *Fault) refuses(r *request) bool {
	return f.Err != nil || f.HalfOpen || f.End == Abrupt || f.End == Reset || f.End == Torn && r.verb != "watch"
}

// endsWatches reports whether the fault ends an open watch.
func (f *Fault) endsWatches() bool { return f.Err != nil || f.HalfOpen || f.End != Whole }

// sends reports whether open watches are sent something.
func (f *Fault) sends() bool {
	return f.Event.Object != nil || f.Event.Type == watch.Bookmark || len(f.Bytes) > 0
}

// there and back report whether the fault is on the way to the server, and back.
func (f *Fault) there() bool { return f.Way != Answers }
func (f *Fault) back() bool  { return f.Way != Requests }

// own returns a copy that shares nothing with the caller.
func (f Fault) own() Fault {
	if f.Event.Object != nil {
		f.Event.Object = f.Event.Object.DeepCopyObject()
	}
	f.Bytes = slices.Clone(f.Bytes)
	return f
}
