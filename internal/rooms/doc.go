// Package rooms has no code. Its tests say what packages of this module may link, so
// that whoever imports the core does not pay for a client, and no package comes to know
// of those that are built on it; and they hold docs/design.md to the code.
package rooms
