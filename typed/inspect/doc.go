// Package inspect shows what the informers, handlers and queues of a program do, on a page for
// a browser and as JSON, to be mounted next to net/http/pprof:
//
//	inspector, err := inspect.New(
//		inspect.WithFactories(factory),
//		inspect.WithInformers(pods, nodes),
//		inspect.WithQueue(q))
//	...
//	http.Handle("/debug/informers/", inspector)
//
// The page begins with the problems, in words, the worst first: informers that are not synced
// and why, handlers that are stuck or slow, what takes the memory, keys that fail. Below that
// is each part with its numbers. The handler of an Inspector answers GET and HEAD:
//
//	…/                     the page, which is kept up to date while it is open
//	…/?format=json         the same as JSON, see snapshot.Report; so does Accept: application/json
//	…/?key=shop/web-0      what is known of one key, as a page or JSON, see snapshot.Key
//	…/?q=text&sort=name    the page with the informers that match, in another order
//	…/events               reports as JSON, as server-sent events, every two seconds
//
// Put it behind your own authentication. It has none, and it shows names of objects and the
// texts of errors, which may have in them what others must not see. The contents of objects
// are shown only with WithObjectContents, and those of Secrets never.
//
// It does nothing between requests, and leaves no goroutine after one. The size of objects is
// estimated on request, for one informer at a time, and at most every ten seconds for each.
package inspect
