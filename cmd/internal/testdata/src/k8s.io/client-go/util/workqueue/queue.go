// Package workqueue is a stub.
package workqueue

import "time"

type TypedRateLimitingInterface[T comparable] interface {
	Add(item T)
	Get() (item T, shutdown bool)
	Done(item T)
	AddAfter(item T, d time.Duration)
	AddRateLimited(item T)
	Forget(item T)
}

type RateLimitingInterface = TypedRateLimitingInterface[any]

func New() TypedRateLimitingInterface[string] { return nil }
