// Package mutation finds out what was modified in a value since it was recorded.
//
// A record is the content of a value as one piece of bytes: what is in its fields,
// unexported ones too, and behind its pointers, in an order that follows from its
// type. So it takes a fraction of what a copy takes, and the garbage collector has
// nothing to do with it. A comparison walks through the value and its record side
// by side, which tells where they differ, and what was there.
package mutation
