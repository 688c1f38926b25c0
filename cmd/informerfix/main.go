// Informerfix moves programs from client-go's informers to those of
// github.com/kubetyped/informer: imports of factories and functions of handlers. It prints
// what stays, and why.
//
//	informerfix -fix -diff ./...
//	informerfix -fix ./...
//	informerfix help
package main

import (
	"github.com/kubetyped/informer/cmd/internal/driver"
	"github.com/kubetyped/informer/cmd/internal/vet"
)

func main() { driver.Run(vet.Informerfix) }
