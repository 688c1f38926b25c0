// Package walls has no code. Its tests say what packages of this module may link, so
// that whoever imports the core does not pay for a client, and no package comes to know
// of those that are built on it. They compare docs with the code, check links, and count
// words that are hard to read.
package walls
