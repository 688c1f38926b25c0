// Package wire reads what API servers send to watches and lists: it splits a
// response into frames, an event or a list item each, and decodes them into Go
// types on several goroutines, in order.
//
//	response ─▶ Frames ─▶ Pipeline ─▶ results, in the order of the frames
//	            split     Codec on up to n goroutines
//
// A Codec knows one media type and one Go type, and nothing else does. An object that cannot be
// decoded is reported as an *ObjectError, with its identity as far as the text has it; the
// caller decides what to do. Everything else that is wrong with a response ends it with a
// *FrameError, which says where. Nothing is skipped silently. Of the contents of a response,
// errors show kinds, single characters, and fields and values that decoders of objects name.
package wire
