package kube

import (
	"context"
	"errors"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"

	"github.com/kubetyped/informer/index"
	"github.com/kubetyped/informer/internal/monitor"
	"github.com/kubetyped/informer/typed/source"
)

const (
	// lookPeriod is how often a server that can be reached is asked for a kind that it does not
	// have, and soonPeriod how often for soonTime after CustomResourceDefinitions have changed:
	// servers know of them one after the other.
	lookPeriod = 10 * time.Second
	soonPeriod = 250 * time.Millisecond
	soonTime   = 15 * time.Second
	// goneAfter is the time between the two looks that find a kind gone.
	goneAfter = 2 * time.Second
)

var definitionsResource = schema.GroupVersionResource{Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions"}

// WaitForKind makes a source of FromREST wait for its kind if the server does not have it,
// such as that of a CustomResourceDefinition that is installed later:
//
//	widgets, err := kube.For[*Widget](f, kube.WaitForKind())
//
// It promises:
//
//  1. While the server does not have the kind, the informer is synced and has no objects, so
//     that all else starts. The error in its Status is a *meta.NoKindMatchError or a
//     *meta.NoResourceMatchError.
//  2. It lists within a second after the definition has changed, if the program may watch
//     CustomResourceDefinitions, and otherwise within ten seconds.
//  3. When the kind has gone, it reports the deletion of all objects, and waits again. A kind
//     has gone if discovery, which succeeds, does not have it, twice, two seconds apart. While
//     discovery fails, nothing is deleted.
//
// Without it, the informer is not synced before the server has the kind, which it asks for with
// growing pauses, and keeps the objects of a kind that has gone.
func WaitForKind() SourceOption {
	return func(c *sourceConfig) error {
		c.rest.options = append(c.rest.options, "WaitForKind")
		c.rest.waits = true
		return nil
	}
}

// kindWaiter lists and watches a resource while the server has its kind. It does not depend on
// the type of objects, so that its code is compiled once.
type kindWaiter struct {
	*restResource
	definitions source.Source[*metav1.PartialObjectMetadata] // nil: they cannot be followed
	sink        interface {
		Replace(l source.List, version string)
		Report(err error)
	}
	// listAndWatch lists and watches a resource until ctx ends, and sends to missed when a request
	// has not found it.
	listAndWatch func(ctx context.Context, found resource, missed chan struct{}) error
	wake         chan struct{} // definitions have changed

	watching bool // definitions
	empty    bool // what the sink has
	missing  bool // the last report was that the server does not have the kind
	soon     time.Time
}

// run implements Run.
func (w *kindWaiter) run(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	var running sync.WaitGroup
	defer running.Wait()
	defer cancel()
	unreachable := w.requests.unreachable()
	for {
		found, err := contained(ctx, func() (resource, error) { return w.look(ctx) })
		period := lookPeriod
		if isUnreachable(err) {
			period = min(period, unreachable.next(ctx))
		} else {
			unreachable.reset()
		}
		switch {
		case ctx.Err() != nil:
			return nil
		case err == nil:
			w.empty, w.missing = false, false
			if err := w.serve(ctx, found); err != nil || ctx.Err() != nil {
				return err
			}
			continue // it has gone
		case errors.Is(err, errClusterScoped), errors.Is(err, errNamespaceMissing):
			return err
		case isMissing(err):
			w.reportMissing()
		default:
			w.missing = false
			w.sink.Report(&source.RequestError{Err: err})
		}
		if !w.watching && w.definitions != nil {
			w.watching = true
			running.Go(func() { _ = w.definitions.Run(ctx, definitionsSink{wake: w.wake}) }) // without rights, the period counts
		}
		w.pause(ctx, period)
	}
}

// isMissing reports whether an error says that the server does not have a kind.
func isMissing(err error) bool { return errors.Is(err, errNoSuchResource) || apierrors.IsNotFound(err) }

// look asks whether the server has the kind, and lists one object. If the program may not list
// them, the source reports that.
func (w *kindWaiter) look(ctx context.Context) (resource, error) {
	found, err := w.resource.discover(ctx, w.server)
	switch {
	case err != nil:
	case w.name != nil:
		err = found.checkKey(*w.name)
	default:
		err = found.checkNamespace(w.rest.namespace)
	}
	if err != nil {
		return found.resource, err
	}
	// Without a version, since servers ignore the limit of a list at version 0.
	request := w.server.Get().AbsPath(found.path(w.rest.namespace)...).SetHeader("Accept", runtime.ContentTypeJSON).Param("limit", "1")
	if w.name != nil {
		request = request.Param("fieldSelector", w.fields.String())
	}
	err = request.Do(ctx).Error()
	if apierrors.IsForbidden(err) {
		err = nil
	}
	return found.resource, err
}

// reportMissing reports that there are no objects, and why.
func (w *kindWaiter) reportMissing() {
	if !w.empty {
		w.empty = true
		w.sink.Replace(source.List{}, "")
		if w.lead != nil {
			w.lead.of.Store(nil) // own writes to objects that have gone are ahead of nothing
		}
	}
	if w.missing {
		return
	}
	w.missing = true
	var err error = &meta.NoKindMatchError{GroupKind: w.resource.kind.GroupKind(), SearchedVersions: []string{w.resource.kind.Version}}
	if w.resource.kind.Empty() {
		err = &meta.NoResourceMatchError{PartialResource: w.resource.GroupVersionResource}
	}
	w.sink.Report(&source.RequestError{Err: err})
}

// pause waits until it is time for the next look, at most for a period.
func (w *kindWaiter) pause(ctx context.Context, period time.Duration) {
	if time.Now().Before(w.soon) {
		period = min(period, soonPeriod)
	}
	timer := time.NewTimer(period)
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-timer.C:
	case <-w.wake:
		w.soon = time.Now().Add(soonTime)
	}
}

// serve lists and watches until ctx ends or the kind has gone.
func (w *kindWaiter) serve(ctx context.Context, found resource) error {
	ctx, cancel := context.WithCancel(ctx)
	missed := make(chan struct{}, 1)
	var looking sync.WaitGroup
	defer looking.Wait()
	defer cancel()
	looking.Go(func() {
		defer cancel()
		w.waitUntilGone(ctx, missed)
	})
	return w.listAndWatch(ctx, found, missed)
}

// waitUntilGone returns when discovery has not had the kind twice after a request has not found
// it, or ctx has ended.
func (w *kindWaiter) waitUntilGone(ctx context.Context, missed <-chan struct{}) {
	var since time.Time // of the first look that has not found it
	again := time.NewTimer(0)
	defer again.Stop()
	<-again.C
	for {
		select {
		case <-ctx.Done():
			return
		case <-missed:
			if !since.IsZero() {
				continue
			}
		case <-again.C:
		}
		_, err := contained(ctx, func() (description, error) { return w.resource.discover(ctx, w.server) })
		switch {
		case err == nil:
			since = time.Time{}
			continue
		case !isMissing(err): // nothing is known
		case since.IsZero():
			since = time.Now()
		case time.Since(since) >= goneAfter:
			return
		}
		again.Reset(goneAfter)
	}
}

// suspectSink notes requests that have not found the resource.
type suspectSink[T index.Object] struct {
	source.Forwarder[T]
	missed chan struct{}
}

// Report implements source.Sink.
func (s *suspectSink[T]) Report(err error) {
	if isMissing(err) {
		monitor.Wake(s.missed)
	}
	s.To.Report(err)
}

// definitionsFrom returns the definitions of custom resources.
//
// It is not inlined, since every package that calls FromREST would compile that for metadata as
// well as for its own types.
//
//go:noinline
func definitionsFrom(config *rest.Config) source.Source[*metav1.PartialObjectMetadata] {
	return FromREST[*metav1.PartialObjectMetadata](config, WithResource(definitionsResource))
}

// definitionsSink wakes a kindWaiter when CustomResourceDefinitions change.
type definitionsSink struct{ wake chan struct{} }

var _ source.Sink[*metav1.PartialObjectMetadata] = definitionsSink{}

// Change implements source.Sink.
func (s definitionsSink) Change(index.Change[*metav1.PartialObjectMetadata], string) {
	monitor.Wake(s.wake)
}

// Step implements source.Sink.
func (s definitionsSink) Step(changes []index.Change[*metav1.PartialObjectMetadata], _ string, done func()) {
	if len(changes) > 0 {
		monitor.Wake(s.wake)
	}
	if done != nil {
		done()
	}
}

// Stage implements source.Sink.
func (definitionsSink) Stage(*metav1.PartialObjectMetadata, string) source.Staged {
	return source.LeaveOut()
}

// Replace implements source.Sink.
func (s definitionsSink) Replace(source.List, string) { monitor.Wake(s.wake) }

// Progress implements source.Sink.
func (definitionsSink) Progress(int, int) {}

// Report implements source.Sink.
func (definitionsSink) Report(error) {}

// Decoding implements source.Sink.
func (definitionsSink) Decoding() source.Decoding[*metav1.PartialObjectMetadata] {
	return source.Decoding[*metav1.PartialObjectMetadata]{}
}
