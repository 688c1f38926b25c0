// Package mutation finds out what was modified in a value since it was recorded.
//
// A record is the content of a value as one piece of bytes: the values of its fields,
// unexported ones too, and the values behind its pointers, in an order that follows from its
// type. So it takes a fraction of the memory of a copy, and costs the garbage collector
// nothing. A comparison walks through the value and its record side by side: it finds where
// they differ, and the value that was there.
package mutation
