// Informervet checks programs with informers of client-go, controller-runtime or
// github.com/kubetyped/informer: above all, that they do not write to objects of a cache.
//
//	informervet ./...
//	go vet -vettool=$(which informervet) ./...
//	informervet help
package main

import (
	"github.com/kubetyped/informer/cmd/internal/driver"
	"github.com/kubetyped/informer/cmd/internal/vet"
)

func main() { driver.Run(vet.Informervet) }
