// Package observe has options by which informers are observed: what they keep and may keep,
// how long their handlers and index functions take, what has happened to an object, and who
// modifies what nobody may. An informer that is not observed pays nothing for it.
//
// Where an option is given twice, to a factory and to one of its informers, say, the later one
// counts. Functions that are given to several informers may be called at the same time.
package observe
