package control

import (
	"github.com/kubetyped/informer/queue"
)

// Adder is what is needed of a queue to put keys in. Every *queue.WorkQueue is
// one; AdderFunc makes one of another queue.
type Adder[K comparable] interface {
	// AddWithOptions makes the key wait as o says, see queue.WorkQueue. It is
	// called by many goroutines, some of which are those of informers, and must
	// not wait for anything.
	AddWithOptions(key K, o queue.AddOptions)
}

// AdderFunc makes an Adder of a queue that has no options, such as those of
// client-go:
//
//	control.AdderFunc[index.Key](q.Add)
type AdderFunc[K comparable] func(key K)

// AddWithOptions adds the key, and leaves the options aside.
func (f AdderFunc[K]) AddWithOptions(key K, _ queue.AddOptions) { f(key) }
