// Package walls has no code. Its tests check which packages the packages of this module may
// link. A program that imports the core does not pay for a client, and no package knows of those
// that are built on it. They also compare docs with the code, check links, and count words that
// are hard to read.
package walls
