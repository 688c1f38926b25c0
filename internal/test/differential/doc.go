// Package differential compares decoders with apimachinery's, by random programs: an object that
// goes through states, of which each is what changes of its text have made of one before it,
// small as updates make them, or such as no encoder writes. The held objects, the relatives and
// the decoded fields are random, too.
//
// Whatever apimachinery makes of the text of a state has to come out, errors included;
// and when a program ends, all that was handed out has to be as it was then.
//
//	a program takes its choices from a *rand.Rand: of a seed, or of an input of a fuzz target
package differential
