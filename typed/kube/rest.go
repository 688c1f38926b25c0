package kube

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"sync"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"k8s.io/klog/v2"

	"github.com/kubetyped/informer/index"
	"github.com/kubetyped/informer/internal/decode/wire"
	"github.com/kubetyped/informer/typed/source"
)

// FromREST returns a source that lists and watches objects of type T without a
// generated client, and decodes them itself, on up to GOMAXPROCS goroutines:
//
//	pods := typed.NewInformer(kube.FromREST[*corev1.Pod](config))
//
// T is a pointer to a struct with the method GetResourceVersion. It can be
//
//   - a type of client-go's scheme, or of that of WithScheme, whose resource is
//     found by its kind;
//   - any other struct with JSON tags, with WithResource: one for a custom
//     resource, which embeds metav1.ObjectMeta with the tag `json:"metadata"`,
//     and metav1.TypeMeta if it is to have its kind, or one with nothing but the
//     fields that are needed: what it does not name is skipped and never
//     allocated. A field of T, or of a struct of the same package in it, that has no
//     name in a JSON tag is an error; `json:"-"` is one for what the server does not have.
//     Methods that decode count if the type declares them itself, not if they are promoted
//     from an embedded field. If a scheme knows the kind, such a struct is decoded from
//     protobuf, too, with the same result as from JSON;
//   - *unstructured.Unstructured, with WithResource;
//   - *metav1.PartialObjectMetadata, with WithResource; the server is then asked
//     for metadata only.
//
// The configuration's transport, authentication, rate limit and warning handler
// are used, as by generated clients; it is copied. As with those, sources of a configuration
// with Dial or Proxy share no connections, since client-go cannot compare functions. Objects are
// asked for in the formats of its AcceptContentTypes or else ContentType, by default in protobuf
// where T has generated code for it, or where the type that a scheme has for the
// resource has, and each field of T can be decoded from the one of that type with the
// same name in JSON (a field that the type does not have keeps objects in JSON, unless
// its tag is `json:"-"`; so do methods that decode, and interfaces), and in
// JSON from servers that have no protobuf for them.
//
// Lists, watches, retries and waits are those of FromListerWatcher. In addition,
//
//  1. a list is decoded item by item as it arrives, and report.Status reports its progress. The
//     text of a list is never in memory as a whole;
//  2. a server that never ends a streamed list is listed the plain way, see
//     WithWatchListTimeout;
//  3. an object that cannot be decoded, or is of another kind than T's, is reported
//     as a *source.RejectedError, by its key, and holds up nothing: what comes before and
//     after it is used, and so is the fact that it is deleted. A list whose
//     objects are all of another kind does not sync. An empty list does sync;
//  4. errors in the middle of a watch are reported. A part of a list or watch that was cut
//     off, or is not what API servers send, is a *StreamError. The watch begins again after
//     the last version before it, a list as a whole. If a watch cannot be used at the same
//     place for the third time, the objects are listed. They are also listed once when three
//     streamed lists in a row ended too early;
//  5. a watch that has brought something, or lasted for a second, is followed by
//     the next one at once, however it ended. After one that has not, it waits by
//     rule 2 of FromListerWatcher, and reports why.
//
// If objects stay in JSON, or are decoded by apimachinery, for what T has in it, the log
// says why, and so does the Origin in report.Status.
//
// If the arguments cannot be used, the informer's methods say so, see
// typed.NewInformer.
func FromREST[T index.Object](config *rest.Config, opts ...SourceOption) source.Source[T] {
	s := &restSource[T]{}
	s.of = reflect.TypeFor[T]()
	s.sourceConfig, s.err = newSourceConfig(opts)
	if s.err == nil {
		s.err = s.prepare(config)
	}
	if s.err != nil {
		s.err = fmt.Errorf("source of %v: %w", s.of, s.err)
	}
	return s
}

// restSource is the Source of FromREST.
type restSource[T index.Object] struct {
	restResource
	client *restClient[T]
	// unplanned returns why objects are decoded in a slower way than others are; nil: they
	// are not.
	unplanned   func() error
	definitions source.Source[*metav1.PartialObjectMetadata] // of which a change may bring the kind; nil: WaitForKind is not set
}

// prepare checks what can be checked without a server.
func (s *restSource[T]) prepare(config *rest.Config) error {
	var err error
	if s.resource, err = knownResource(s.of, config, &s.rest); err != nil {
		return err
	}
	s.host = hostOf(config)
	if s.client, err = newRESTClient[T](config, sentAs(s.of, &s.rest, s.resource)); err != nil {
		return err
	}
	s.client.compressed, s.server = s.rest.compressed, s.client.requests
	if err := s.checkScope(); err != nil {
		return err
	}
	if s.rest.waits {
		s.definitions = definitionsFrom(config)
	}
	s.unplanned = sync.OnceValue(func() error { return wire.Unplanned[T](s.client.accept[0], s.client.api, s.rest.mask) })
	return nil
}

// knownResource returns what is known of the resource of a type without a server. It
// returns an error if the configuration, the type or the options cannot be used.
func knownResource(of reflect.Type, config *rest.Config, c *restConfig) (resource, error) {
	if config == nil {
		return resource{}, errors.New("configuration is nil")
	}
	if err := wire.CheckType(of); err != nil {
		return resource{}, err
	}
	if err := wire.CheckTags(of); err != nil {
		return resource{}, err
	}
	if err := checkPacked(of); err != nil {
		return resource{}, err
	}
	if c.mask != nil && packedIn(of) != nil {
		return resource{}, errors.New("WithFields and WithoutFields leave out what Packed keeps: name the fields in your struct, or do without Packed")
	}
	if err := c.mask.Check(of); err != nil {
		return resource{}, err
	}
	if !of.Implements(reflect.TypeFor[versionGetter]()) {
		return resource{}, errors.New("no method GetResourceVersion: embed metav1.ObjectMeta with the tag `json:\"metadata\"`, or write one")
	}
	if c.typeMeta {
		if err := checkTypeMeta(of); err != nil {
			return resource{}, err
		}
	}
	return resourceOf(of, c)
}

// Run implements Source.
func (s *restSource[T]) Run(ctx context.Context, sink source.Sink[T]) error {
	if s.err != nil {
		return s.err
	}
	if slow := s.decodedSlowly(); slow != "" {
		klog.FromContext(ctx).Info("Objects are decoded without a plan", "type", s.of.String(), "host", s.host, "reason", slow)
	}
	if s.rest.waits {
		return s.whileServed(sink).run(ctx)
	}
	found, err := s.locate(ctx, sink)
	if err != nil || ctx.Err() != nil {
		return err
	}
	return s.listAndWatch(ctx, sink, found)
}

// whileServed returns the waiter of WaitForKind.
func (s *restSource[T]) whileServed(sink source.Sink[T]) *kindWaiter {
	return &kindWaiter{
		restResource: &s.restResource, definitions: s.definitions, sink: sink,
		listAndWatch: func(ctx context.Context, found resource, missed chan struct{}) error {
			return s.listAndWatch(ctx, &suspectSink[T]{Forwarder: source.Forwarder[T]{To: sink}, missed: missed}, found)
		},
		wake: make(chan struct{}, 1),
	}
}

// listAndWatch lists and watches a resource until ctx ends.
func (s *restSource[T]) listAndWatch(ctx context.Context, sink source.Sink[T], found resource) error {
	decoding := sink.Decoding()
	held := s.held(ctx, decoding)
	client, err := s.client.decoding(s.rest.mask, held)
	if err != nil {
		return err
	}
	reports := &lastReport[T]{Forwarder: source.Forwarder[T]{To: sink}}
	of := target{of: reflect.TypeFor[T](), resource: found, namespace: s.rest.namespace}
	lw := newRESTListerWatcher(client, of, rejecting[T](found.kind, s.kindToSet(found)), reports, s.requests.refused())
	lw.registry, lw.meter, lw.single = s.rest.registry(), decoding.Meter, s.name != nil
	defer lw.streams.Wait()
	reflected := &reflectorSource[T]{lw: listerWatcher(lw), config: s.sourceConfig, reportsWatches: true}
	if s.writes != nil {
		if reflected.decodeAnswer, err = s.answerDecoder(s.client, held, lw.stampEvent, lw.expected); err != nil {
			return err
		}
	}
	return reflected.run(ctx, reports)
}

// decodedSlowly returns why objects are decoded in a slower way than others, "" if they are
// not.
func (s *restSource[T]) decodedSlowly() string {
	if s.unplanned == nil {
		return ""
	}
	if err := s.unplanned(); err != nil {
		return strings.ReplaceAll(err.Error(), "\n", "; ")
	}
	return ""
}

// held returns the function for the stored objects to deduplicate with, nil if deduplication is
// off. Unless an option turned it off, the log says why.
func (s *restSource[T]) held(ctx context.Context, decoding source.Decoding[T]) func(index.Key) (T, bool) {
	if s.rest.withoutDeduplication {
		return nil
	}
	if decoding.Held == nil {
		klog.FromContext(ctx).V(2).Info("Deduplication is off", "type", s.of.String(), "host", s.host, "namespace", s.rest.namespace,
			"reason", "a transform function or a projection may modify them; see WithoutDeduplication and WithoutFields")
	}
	return decoding.Held
}
