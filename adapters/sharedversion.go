package adapters

import (
	"k8s.io/apimachinery/pkg/util/resourceversion"
	"k8s.io/client-go/tools/cache"
)

// sharedVersion finds the resource version up to which all changes of a shared informer's store
// were passed on.
//
// The store's version alone does not say so, since the store is ahead of the calls to handlers.
// Neither does the version of the object that a handler received last: after a relist, handlers
// receive objects in any order. But the store is at a version before it comes to an object that
// is later, and handlers receive changes in the order in which the store made them. So when an
// object comes that is later than a version that was read from the store, everything up to that
// version has come.
//
// When nothing more comes, quiet shows that everything has come: objects in the store are on
// their way to the handler, and nothing holds them up.
//
// Where the store comes to objects before their versions, the informer itself knows to which version
// the calls have come, see sharedFeed.ask.
type sharedVersion struct {
	store    cache.Store
	early    bool   // the store comes to objects before their versions
	reported string // the version reported last
	mark     string // that was read from the store, no earlier than the one above
	last     string // of the object that was passed on last
	events   int    // how many there were
	before   int    // how many there were when settle was last called
	quiet    int    // how often in a row settle has found nothing new
}

// muchQuiet is how often in a row settle has to find nothing new to say so if
// the store's version is not that of the last object, as after a bookmark or a
// relist.
const muchQuiet = 10

// newSharedVersion is called before the handler is added: the handler's first objects are at
// the store's version then, or later.
func newSharedVersion(store cache.Store) sharedVersion {
	v := sharedVersion{store: store}
	v.reported = v.read()
	return v
}

// read returns the version of the store, "" if it does not know.
func (v *sharedVersion) read() string {
	if v.store == nil { // as some informers of tests
		return ""
	}
	return v.store.LastStoreSyncResourceVersion()
}

// collected takes the version of an object of the first list. The list is no
// earlier than any object in it.
func (v *sharedVersion) collected(version string) {
	if !v.early && isNewer(version, v.reported) {
		v.reported = version
	}
}

// begin returns the version for the objects that were collected.
func (v *sharedVersion) begin() string {
	v.mark = v.read()
	return v.reported
}

// passed takes the version of an object that is about to be passed on. It
// returns the version that has been reached, "" if nothing is known.
func (v *sharedVersion) passed(version string) string {
	v.events++
	v.last = version
	if v.early || v.mark != "" && !isNewer(version, v.mark) {
		return ""
	}
	reached := v.mark
	v.mark = v.read()
	if !isNewer(reached, v.reported) {
		return ""
	}
	v.reported = reached
	return reached
}

// settle is called from time to time. It returns the version that has been
// reached as nothing has come since the last call, "" if nothing is known, and
// whether that is the version of the store.
func (v *sharedVersion) settle() (reached string, settled bool) {
	now := v.read()
	stirred := v.events != v.before
	v.before = v.events
	switch {
	case !isNewer(now, v.reported):
		return "", true
	case stirred:
		v.quiet = 0
		return "", false
	case now != v.mark:
		v.mark, v.quiet = now, 0
		return "", false
	}
	v.quiet++
	if now != v.last && v.quiet < muchQuiet {
		return "", false
	}
	v.reported = now
	return now, true
}

// isNewer reports whether a is known to be a later version than b. Every version
// is later than none.
func isNewer(a, b string) bool {
	if b == "" || a == "" {
		return a != ""
	}
	order, err := resourceversion.CompareResourceVersion(a, b)
	return err == nil && order > 0
}
