package simulation

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime/debug"
	"time"

	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/kubetyped/informer/apitest"
)

// Simulation is the run of one seed: processes, actions of users, and checks. Its methods are
// for the function that [Run] calls.
type Simulation struct {
	options    []apitest.Option
	processes  []definition
	acts       []func(context.Context, *user, *rand.Rand) error
	always     []check
	eventually []goal
	kinds      []Kind // nil: all
	length     time.Duration
}

// definition is a process as the test describes it.
type definition struct {
	name string
	run  func(ctx context.Context, config *rest.Config) error
}

// check is what has to be so.
type check struct {
	name  string
	holds func(State) error
}

// of calls holds, see contain.
func (c check) of(now State) error { return contain(func() error { return c.holds(now) }) }

// contain calls a function of the test. A panic is an error, and so is the end of the goroutine,
// as by testing.T.FailNow.
func contain(call func() error) error {
	result := make(chan error, 1)
	go func() {
		err := errEnded
		defer func() {
			if caught := recover(); caught != nil {
				err = fmt.Errorf("panic: %v\n%s", caught, debug.Stack())
			}
			result <- err
		}()
		err = call()
	}()
	return <-result
}

var errEnded = errors.New("function ended its goroutine, as require and testing.T.FailNow do; they print the reason")

// goal is what has to become so within some time after the last fault.
type goal struct {
	check
	within time.Duration
}

// Servers gives the API servers of the simulation options, such as the resources that
// they serve and the objects that they begin with.
func (s *Simulation) Servers(opts ...apitest.Option) { s.options = append(s.options, opts...) }

// Start adds a process: a controller, or any other program. run is called in its own
// goroutine, with a client configuration whose requests the simulation delays, loses and
// refuses. It returns when ctx ends, as it does in a crash, after which no request of that
// life reaches a server, except those on their way, and run is called again. When run
// returns before that, with an error or without, it is called again ten seconds later, as by a
// kubelet. A panic of run fails the simulation.
//
// State that must survive a crash belongs on the server; make all other state in run. Two
// processes may have the same run, such as two instances that elect a leader.
func (s *Simulation) Start(name string, run func(ctx context.Context, config *rest.Config) error) {
	s.processes = append(s.processes, definition{name, run})
}

// Do adds what users do: do is called again and again, at moments that the seed decides, with
// a client whose requests always arrive, and random numbers that follow from the seed as well.
// Its calls do not overlap. An error, a panic or a failed require fails the simulation; do must
// ignore expected errors, such as the deletion of a missing object.
func (s *Simulation) Do(do func(ctx context.Context, client kubernetes.Interface, random *rand.Rand) error) {
	s.acts = append(s.acts, func(ctx context.Context, u *user, random *rand.Rand) error { return do(ctx, u.client, random) })
}

// DoWith is Do for what users do with clients of any kind, such as a kube.Writer or a
// dynamic client of custom resources: do makes them of a configuration whose requests always
// arrive.
func (s *Simulation) DoWith(do func(ctx context.Context, config *rest.Config, random *rand.Rand) error) {
	s.acts = append(s.acts, func(ctx context.Context, u *user, random *rand.Rand) error {
		return do(ctx, rest.CopyConfig(u.config), random)
	})
}

// user is by what users make requests.
type user struct {
	config *rest.Config
	client kubernetes.Interface
}

// Always adds what has to be so at any time: holds is called whenever something has
// happened and all goroutines have come to rest. Its error, its panic or a failed require
// fails the simulation.
func (s *Simulation) Always(name string, holds func(now State) error) {
	s.always = append(s.always, check{name, holds})
}

// Eventually adds what has to become so within some time after the last fault, when
// users have done all they do. A panic of holds is an error, and so is a failed require. All
// that is added with Eventually has to be so at once, with all processes up.
func (s *Simulation) Eventually(name string, within time.Duration, holds func(now State) error) {
	s.eventually = append(s.eventually, goal{check{name, holds}, within})
}

// Faults restricts what goes wrong to some kinds; without any, nothing does. By default
// it is all of [Kinds].
func (s *Simulation) Faults(kinds ...Kind) { s.kinds = append([]Kind{}, kinds...) }

// Lasts sets for how long faults happen, and users do things: between this and half as
// long again, by default 10 minutes.
func (s *Simulation) Lasts(length time.Duration) { s.length = length }
