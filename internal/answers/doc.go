// Package answers takes what an API server answers to a program's own writes from the
// transport of its clients to the sources that list and watch the same objects. A Follower
// stands between a Reflector and a sink, and has package ownwrites decide what the sink gets.
package answers
