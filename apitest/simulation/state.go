package simulation

import (
	"context"
	"math/rand/v2"
	"time"

	"k8s.io/client-go/rest"

	"github.com/kubetyped/informer/apitest"
)

// State is how things are at one moment, at which all goroutines rest.
type State struct{ world *world }

// Elapsed returns how much virtual time has gone by since the beginning.
func (s State) Elapsed() time.Duration { return s.world.elapsed() }

// ResourceVersion returns the version of the last write to the store.
func (s State) ResourceVersion() string { return s.world.servers[0].ResourceVersion() }

// Config returns a client configuration whose requests arrive at once, and undisturbed.
func (s State) Config() *rest.Config { return s.world.config() }

// Writes returns all writes that have reached a server, in order. The caller must not
// modify them.
func (s State) Writes() []Write {
	s.world.mu.Lock()
	defer s.world.mu.Unlock()
	return s.world.writes[:len(s.world.writes):len(s.world.writes)]
}

// Write is a request that was to change something, and has reached a server.
type Write struct {
	// At is when it was answered, since the beginning.
	At time.Duration
	// Process is who sent it: a name that Start was given, or "users".
	Process string
	// Verb is create, update, patch, delete or deletecollection.
	Verb string
	// Resource is a plural with its group: "pods", "deployments.apps".
	Resource string
	// Namespace and Name are those of the URL; a subresource follows the name:
	// "web-0/status".
	Namespace, Name string
	// Code is the HTTP status of the answer, which the process may never have got.
	Code int
}

// Objects returns the objects of a type that the servers have. They are shared and must
// not be modified. T is a type of the scheme, or the Type of a resource; for anything
// else Objects panics.
func Objects[T apitest.Object](now State) []T {
	all, err := apitest.Objects[T](now.world.servers[0].Server)
	if err != nil {
		panic(err)
	}
	return all
}

// lifeKey is what contexts have the life of a process by.
type lifeKey struct{}

// Always adds what has to be so as long as a process lives, which calls it with its own
// context: holds may look at what that life has in its memory. It does nothing with a
// context that is of no simulation. See [Simulation.Always].
func Always(ctx context.Context, name string, holds func(now State) error) {
	if l, ok := ctx.Value(lifeKey{}).(*life); ok {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.always = append(l.always, check{name, holds})
	}
}

// Eventually adds what has to become so for the life of a process that there is when all
// faults have ended, and calls it with its own context. See [Simulation.Eventually].
func Eventually(ctx context.Context, name string, within time.Duration, holds func(now State) error) {
	if l, ok := ctx.Value(lifeKey{}).(*life); ok {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.goals = append(l.goals, goal{check{name, holds}, within})
	}
}

// Random returns random numbers that follow from the seed, for a process that calls it
// with its own context: each call returns the same ones, for one goroutine. With a context
// that is of no simulation, they are Go's own.
func Random(ctx context.Context) *rand.Rand {
	if l, ok := ctx.Value(lifeKey{}).(*life); ok {
		return l.process.world.random("process", l.name())
	}
	return rand.New(rand.NewPCG(rand.Uint64(), rand.Uint64()))
}

func (l *life) checks() []check {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.always
}

func (l *life) aims() []goal {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.goals
}
