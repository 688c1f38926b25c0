// Package fleet runs an informer of several clusters on real API servers: a kube-apiserver and
// two smaller ones, each with its own etcd.
package fleet
