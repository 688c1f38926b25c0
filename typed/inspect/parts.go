package inspect

import (
	"github.com/kubetyped/informer/queue"
	"github.com/kubetyped/informer/typed"
	"github.com/kubetyped/informer/typed/control"
	"github.com/kubetyped/informer/typed/fleet"
	"github.com/kubetyped/informer/typed/report"
	"github.com/kubetyped/informer/typed/shard"
)

// Factory is a set of informers that changes, such as a typed.Factory.
type Factory interface {
	Informers() []typed.AnyInformer
}

// Queue is a queue that reports, as a queue.WorkQueue does.
type Queue interface {
	Report(n int) queue.Report
}

// KeyedQueue is a Queue that knows the state of a key.
type KeyedQueue[K comparable] interface {
	Queue
	KeyState(key K) queue.KeyState
}

// Expectations are what a controller expects, as control.Expectations.
type Expectations interface {
	Stats() control.ExpectationStats
	Report(n int) []control.ExpectationReport
}

// Group is a member of a group that shares objects, as a shard.Group is.
type Group interface {
	Name() string
	Status() shard.Status
}

// Fleet is the clusters of an informer, as a fleet.Source has them.
type Fleet interface {
	Status() []fleet.ClusterStatus
}

// Writes are the own writes to an API server, as a kube.Writes has them.
type Writes interface {
	Status() report.Writes
}
