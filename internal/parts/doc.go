// Package parts has a table of values that objects share, which refers to them weakly.
//
// Who decodes looks a value up by the bytes that it is encoded in, and compares what is
// found with these before using it: the table promises no more than that a value is of
// the kind that it was kept for.
package parts
