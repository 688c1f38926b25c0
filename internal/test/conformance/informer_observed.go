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
	informer  *typed.Informer[T]
	scene     *scene
	way       *way[T]
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
func observe[T object](s *scene, w *way[T], sc scope) *observed[T] {
	s.Helper()
	o := &observed[T]{scene: s, way: w, scope: sc, gate: &gate{}, namespace: s.namespace}
	if sc.everywhere {
		o.namespace = ""
	}
	s.settle()
	source := w.source(s.check, s.resource, o.namespace, o.gate, o.sourceOptions())
	o.informer = typed.NewInformer(source, sc.options...)
	o.running, o.stop = context.WithCancel(s.ctx)
	s.Cleanup(o.end)

	var registration *typed.Registration
	o.handled, registration = o.handle("handler")
	o.routines.Go(func() { assert.NoError(s, o.informer.Run(o.running)) })
	require.NoError(s, o.informer.WaitForSync(s.ctx))
	require.NoError(s, registration.WaitForSync(s.ctx))
	o.streamed = o.stream("event stream")
	o.from = len(s.written(0))
	return o
}

// sourceOptions returns the options of the source, and sets the selector.
func (o *observed[T]) sourceOptions() []kube.SourceOption {
	var opts []kube.SourceOption
	if !o.way.streamed {
		opts = append(opts, kube.WithoutWatchList())
	}
	wanted := labels.Set{}
	if o.scene.shared {
		wanted[sceneLabel] = o.scene.label
	}
	wanted = labels.Merge(wanted, o.scope.labels)
	if len(wanted) > 0 {
		selector := labels.SelectorFromSet(wanted)
		o.selector.LabelSelector = selector.String()
		opts = append(opts, kube.WithLabelSelector(selector))
	}
	if o.scope.fields != "" {
		selector, err := fields.ParseSelector(o.scope.fields)
		require.NoError(o.scene, err)
		o.selector.FieldSelector = selector.String()
		opts = append(opts, kube.WithFieldSelector(selector))
	}
	return opts
}

// handle adds a handler.
func (o *observed[T]) handle(name string) (*tape[T], *typed.Registration) {
	o.scene.Helper()
	t := newTape[T](name)
	registration, err := o.informer.Handle(t, typed.WithHandlerName(name))
	require.NoError(o.scene, err)
	return t, registration
}

// stream ranges over the events. It returns when as many have come as there are
// objects: then it gets all that follow.
func (o *observed[T]) stream(name string) *tape[T] {
	o.scene.Helper()
	t := newTape[T](name)
	o.routines.Go(func() {
		for e := range o.informer.Events(o.running, typed.WithHandlerName(name)).All() {
			t.record(e)
		}
	})
	objects := o.informer.Len()
	_, ok := t.wait(o.scene.ctx, func(events []typed.Event[T]) bool { return len(events) >= objects })
	require.True(o.scene, ok, "the %s does not get the objects that are there", name)
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

func (s *scene) isLast(key index.Key) bool {
	return strings.HasPrefix(strings.TrimPrefix(key.Name, s.label+"."), lastPrefix)
}

// createLast makes an object that nothing else is done with, and returns its key
// when the informer has it.
func (o *observed[T]) createLast() index.Key {
	o.scene.Helper()
	key := o.scene.key(fmt.Sprint(lastPrefix, len(o.scene.written(0))))
	version := o.scene.createAt(key, metav1.ObjectMeta{Labels: labels.Merge(nil, o.scope.labels)})
	require.NoError(o.scene, o.informer.WaitForResourceVersion(o.scene.ctx, version))
	return key
}

// finish compares the informer, and the events that it has delivered, with the server, and stops
// it.
func (o *observed[T]) finish() {
	o.scene.Helper()
	// Events of a list come in the list's order. The first of the two objects may not be the
	// list's last event, but the second comes after all of the list.
	o.createLast()
	last := o.createLast()
	cache := o.way.own(o.scene, o.informer.List())
	assert.Empty(o.scene, history.Diff("the server", o.way.own(o.scene, o.way.server(o.scene, o.namespace, o.selector)), "the informer", cache))

	for _, t := range append([]*tape[T]{o.handled, o.streamed}, o.late...) {
		_, ok := t.wait(o.scene.ctx, func(events []typed.Event[T]) bool {
			return slices.ContainsFunc(events, func(e typed.Event[T]) bool { return e.Key() == last })
		})
		require.True(o.scene, ok, "the %s gets no event of the last object", t.name)
		assert.NoError(o.scene, t.history.Err(), t.name)
		assert.Empty(o.scene, history.Diff("the informer", cache, "the "+t.name, o.way.own(o.scene, t.history.Objects())))
	}
	if o.scope.labels == nil && o.scope.fields == "" {
		o.checkNothingLost()
	}
	status := o.informer.Status()
	assert.Zero(o.scene, status.Rejected, "%v", status.LastRejected)
	assert.NoError(o.scene, status.Err)
	o.end()
}
