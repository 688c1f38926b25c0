// Package wire reads what API servers send to watches and lists: it splits a
// response into frames, an event or a list item each, and decodes them into Go
// types on several goroutines, in order.
//
//	response ─▶ Frames ─▶ Pipeline ─▶ results, in the order of the frames
//	            split     Codec on up to n goroutines
//
// A Codec knows one media type and one Go type. Everything that is wrong with a
// response ends it with a *FrameError, which tells where; nothing is skipped.
package wire
