// Package control is a stub.
package control

import "github.com/kubetyped/informer/typed"

func Filter[T any](h typed.Handler[T], selected func(obj T) bool) typed.Handler[T] { return h }
