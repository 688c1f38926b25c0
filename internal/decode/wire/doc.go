// Package wire reads what API servers send to watches and lists: it splits a
// response into frames, an event or a list item each, and decodes them into Go
// types on several goroutines, in order.
//
//	response ─▶ Frames ─▶ Pipeline ─▶ results, in the order of the frames
//	            split     Codec on up to n goroutines
//
// A Codec knows one media type and one Go type, and is all that does. An object
// that cannot be decoded is told by an *ObjectError, with who it is as far as its
// text says; what is done about it is up to the caller. Everything else that is
// wrong with a response ends it with a *FrameError, which tells where. Nothing is
// skipped silently, and no error shows what is in a response.
package wire
