package conformance

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/kubetyped/informer/apitest/history"
	"github.com/kubetyped/informer/index"
	"github.com/kubetyped/informer/typed"
	"github.com/kubetyped/informer/typed/kube"
)

// scope is what an informer is to keep of a scene, and how.
type scope struct {
	everywhere bool       // all namespaces
	labels     labels.Set // selects the objects with all of them
	fields     string     // selector; it has to select new objects
	options    []typed.Option
}

// observed is a running informer, and all events that it delivers.
type observed[T object] struct {
	*typed.Informer[T]
	*scene[T]
	scope     scope
	gate      *gate
	namespace string // the only one, "" for all
	selector  metav1.ListOptions
	handled   *tape[T]
	streamed  *tape[T]
	late      []*tape[T]
	from      int // number of the first write after it had synced
	running   context.Context
	stop      context.CancelFunc
	routines  sync.WaitGroup
}

// observe runs an informer, which stops with finish, or when the test ends, and
// returns when it has synced. Nothing may be written meanwhile.
func (s *scene[T]) observe(sc scope) *observed[T] {
	s.Helper()
	o := &observed[T]{scene: s, scope: sc, gate: &gate{}, namespace: s.namespace}
	if sc.everywhere {
		o.namespace = ""
	}
	s.settle()
	source := s.way.source(s.check, s.resource, o.namespace, o.gate, o.sourceOptions())
	o.Informer = typed.NewInformer(source, sc.options...)
	o.running, o.stop = context.WithCancel(s.ctx)
	s.Cleanup(o.end)

	var registration *typed.Registration
	o.handled, registration = o.handle("handler")
	o.routines.Go(func() { assert.NoError(s, o.Run(o.running)) })
	require.NoError(s, o.WaitForSync(s.ctx))
	require.NoError(s, registration.WaitForSync(s.ctx))
	o.streamed = o.stream("event stream")
	o.from = len(s.written(0))
	return o
}

// Name returns the name of the test, and not that of the informer.
func (o *observed[T]) Name() string { return o.scene.Name() }

// sourceOptions returns the options of the source, and sets the selector.
func (o *observed[T]) sourceOptions() []kube.SourceOption {
	var opts []kube.SourceOption
	if !o.way.streamed {
		opts = append(opts, kube.WithoutWatchList())
	}
	wanted := labels.Set{}
	if o.shared {
		wanted[sceneLabel] = o.label
	}
	wanted = labels.Merge(wanted, o.scope.labels)
	if len(wanted) > 0 {
		selector := labels.SelectorFromSet(wanted)
		o.selector.LabelSelector = selector.String()
		opts = append(opts, kube.WithLabelSelector(selector))
	}
	if o.scope.fields != "" {
		selector, err := fields.ParseSelector(o.scope.fields)
		require.NoError(o, err)
		o.selector.FieldSelector = selector.String()
		opts = append(opts, kube.WithFieldSelector(selector))
	}
	return opts
}

// handle adds a handler.
func (o *observed[T]) handle(name string) (*tape[T], *typed.Registration) {
	o.Helper()
	t := newTape[T](name)
	registration, err := o.Handle(t, typed.WithHandlerName(name))
	require.NoError(o, err)
	return t, registration
}

// stream ranges over the events. It returns when as many have come as there are
// objects: then it gets all that follow.
func (o *observed[T]) stream(name string) *tape[T] {
	o.Helper()
	t := newTape[T](name)
	o.routines.Go(func() {
		for e := range o.Events(o.running, typed.WithHandlerName(name)).All() {
			t.record(e)
		}
	})
	objects := o.Len()
	_, ok := t.wait(o.ctx, func(events []typed.Event[T]) bool { return len(events) >= objects })
	require.True(o, ok, "the %s does not get the objects that are there", name)
	return t
}

// end stops the informer and waits for it.
func (o *observed[T]) end() {
	o.stop()
	o.routines.Wait()
	o.gate.wait()
}

// lastPrefix begins the names of the objects that finish makes.
const lastPrefix = "last-"

func (s *scene[T]) isLast(key index.Key) bool {
	return strings.HasPrefix(strings.TrimPrefix(key.Name, s.label+"."), lastPrefix)
}

// createLast makes an object that nothing else is done with, and returns its key
// when the informer has it.
func (o *observed[T]) createLast() index.Key {
	o.Helper()
	key := o.key(fmt.Sprint(lastPrefix, len(o.written(0))))
	version := o.createAt(key, metav1.ObjectMeta{Labels: labels.Merge(nil, o.scope.labels)})
	require.NoError(o, o.WaitForResourceVersion(o.ctx, version))
	return key
}

// finish compares the informer, and the events that it has delivered, with the server, and stops
// it.
func (o *observed[T]) finish() {
	o.Helper()
	// Events of a list come in the list's order. The first of the two objects may not be the
	// list's last event, but the second comes after all of the list.
	o.createLast()
	last := o.createLast()
	cache := o.own(o.List())
	assert.Empty(o, history.Diff("the server", o.own(o.server(o.namespace, o.selector)), "the informer", cache))

	for _, t := range append([]*tape[T]{o.handled, o.streamed}, o.late...) {
		_, ok := t.wait(o.ctx, func(events []typed.Event[T]) bool {
			return slices.ContainsFunc(events, func(e typed.Event[T]) bool { return e.Key() == last })
		})
		require.True(o, ok, "the %s gets no event of the last object", t.name)
		assert.NoError(o, t.history.Err(), t.name)
		assert.Empty(o, history.Diff("the informer", cache, "the "+t.name, o.own(t.history.Objects())))
	}
	if o.scope.labels == nil && o.scope.fields == "" {
		o.checkNothingLost()
	}
	status := o.Status()
	assert.Zero(o, status.Rejected, "%v", status.LastRejected)
	assert.NoError(o, status.Err)
	o.end()
}
