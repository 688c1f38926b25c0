// Package rig is what the tests of typed, and of the packages below it, have in
// common: objects, sources and handlers that are as small as they can be, and an
// informer made of them.
//
// Read [Thing], then [Script], [Rig] and [Recorder].
package rig
