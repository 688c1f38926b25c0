// Package parts describes how the parts of objects lie in memory, for decoders that write fields
// of structs by their offsets, and finds values that objects can share. It refers to these weakly,
// apart from the few texts of a Recent.
//
// A Table finds a value by the bytes that it is encoded in. Relatives find a whole
// object that a new one probably has values in common with. Both promise no more than
// that a value is of the type that it was kept for: who decodes compares it with the
// bytes before using it.
package parts
