package kube

import (
	"errors"
	"fmt"
	"reflect"
	"sync/atomic"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"

	"github.com/kubetyped/informer/index"
	"github.com/kubetyped/informer/internal/answers"
	"github.com/kubetyped/informer/internal/decode/wire"
	"github.com/kubetyped/informer/typed/report"
	"github.com/kubetyped/informer/typed/source"
)

// Writes takes what an API server answers to a program's own writes to the informers of the
// same objects, so that they have it when the write returns, before the watch brings it:
//
//	writes := kube.NewWrites()
//	config = writes.Config(config)
//	client, err := kubernetes.NewForConfig(config)
//	pods := typed.NewInformer(kube.FromClient(client.CoreV1().Pods(""), kube.WithWrites(writes)))
//
// It does not promise:
//
//  1. A write whose answer was lost is known when the watch brings it. With generateName,
//     trying it again makes a double, so compute names.
//  2. A snapshot is no moment of the server: it is the server's history up to ResourceVersion,
//     with own writes after it. ResourceVersion, WaitForResourceVersion and Expectations stay
//     with the watch.
//  3. Answers in protobuf are left out for informers of *unstructured.Unstructured, and of types
//     that are decoded from JSON alone. Status counts them, and the log says so once.
//  4. Evictions, bindings, scale, deletecollection and dry runs say nothing. Expectations are
//     for these, and for writes of other clients.
//
// It promises:
//
//  1. Before a write returns, reads have what it was answered, if the informer has synced, the
//     selectors are labels, metadata.name and metadata.namespace, and its queue moves within a
//     second. A Block handler, a transform or an index function that writes waits that second.
//  2. Neither the watch nor a list that is older takes it back. The watch, when it gets there,
//     decides; and handlers are called once for each state.
//  3. Requests and answers are unchanged, and the caller shares nothing with the store. The
//     object is decoded once more.
//
// A Writes is for one API server, and safe for concurrent use.
type Writes struct{ answers *answers.Answers }

// NewWrites returns a Writes for the API server of the first configuration that Config gets.
func NewWrites() *Writes { return &Writes{answers.New()} }

// Config returns a copy of a configuration whose clients' writes are seen. If the
// configuration is nil, or that of another server than the first one, requests of its clients
// fail, with an error that says so.
func (w *Writes) Config(config *rest.Config) *rest.Config { return w.answers.Config(config) }

// WritesStatus is what Writes.Status returns.
type WritesStatus = report.Writes

// Status returns the counts of answers since NewWrites.
func (w *Writes) Status() WritesStatus {
	s := w.answers.Status()
	status := WritesStatus{Server: s.Server, Taken: s.Taken, Ignored: s.Ignored, Late: s.Late, LeftOut: map[string]uint64{}}
	for reason, n := range s.LeftOut {
		status.LeftOut[string(reason)] = n
	}
	return status
}

// Answers is for package adapters.
func (w *Writes) Answers() *answers.Answers { return w.answers }

// WithWrites has FromREST and FromClient take what writes were answered, see Writes. The
// source has to be made with the configuration that Writes.Config returns, or with a client of
// it. The informer's Run returns an error if its first list shows that it is not, and if it is
// one of shards, which compare versions of their parts. So does a fleet: its clusters with
// WithWrites fail with an error that says so, and WaitForSync returns it when its context ends.
func WithWrites(w *Writes) SourceOption {
	return func(c *sourceConfig) error {
		if w == nil || w.answers == nil {
			return errors.New("WithWrites: the Writes is nil, or was not made by NewWrites")
		}
		c.writes, c.lead = w, &lead{}
		return nil
	}
}

// lead is how far a store is ahead of its watch: the function that returns it.
type lead struct {
	of atomic.Pointer[func() (keys int, highest uint64)]
}

// Ahead implements source.Leading.
func (c *sourceConfig) Ahead() (keys int, highest uint64) {
	if c.lead == nil {
		return 0, 0
	}
	if ahead := c.lead.of.Load(); ahead != nil {
		return (*ahead)()
	}
	return 0, 0
}

// Ahead implements source.Leading.
func (s *reflectorSource[T]) Ahead() (keys int, highest uint64) { return s.config.Ahead() }

// followed makes the Follower of a source's Run, nil if own writes are left to the watch.
func (s *reflectorSource[T]) followed(sink source.Sink[T]) (*answers.Config[T], error) {
	if s.config.writes == nil {
		return nil, nil
	}
	decoding := sink.Decoding()
	if decoding.Versioned != "" {
		return nil, fmt.Errorf("WithWrites: %s; use Expectations", decoding.Versioned)
	}
	decode := s.decodeAnswer
	if decode == nil {
		codecs, err := codecsOf[T](reflect.TypeFor[T](), nil, nil)
		if err != nil {
			return nil, fmt.Errorf("WithWrites: %w", err)
		}
		decode = answerDecoder(codecs, stamp[T](schema.GroupVersionKind{}))
	}
	return &answers.Config[T]{Sink: sink, Decode: decode, Partial: isPartial[T](), Held: decoding.Held}, nil
}

// answerDecoder returns what decodes answers as the objects of watches are.
func answerDecoder[T index.Object](codecs map[string]wire.Codec[T], stamp func(T)) answers.Decode[T] {
	return func(mediaType string, kind schema.GroupVersionKind, object []byte) (T, error) {
		codec, ok := codecs[mediaType]
		if !ok {
			return *new(T), fmt.Errorf("%v cannot be decoded from %s", reflect.TypeFor[T](), mediaType)
		}
		obj, err := wire.ItemOfKind(codec, object, kind)
		if err == nil {
			stamp(obj)
		}
		return obj, err
	}
}

// answerDecoder returns what decodes answers for the source. They may come in formats that it
// does not ask for.
func (s *restSource[T]) answerDecoder(client *restClient[T], held func(index.Key) (T, bool), stamp func(T), of schema.GroupVersionKind) (answers.Decode[T], error) {
	types, err := mediaTypes[T](client.api)
	if err != nil {
		return nil, err
	}
	codecs, err := newCodecs(types, client.api, heldByName(held), s.rest.mask)
	if err != nil {
		return nil, err
	}
	decode := answerDecoder(codecs, stamp)
	return func(mediaType string, kind schema.GroupVersionKind, object []byte) (T, error) {
		if of.Kind != "" && kind != of {
			return *new(T), fmt.Errorf("kind is %s, want %s", kind, of)
		}
		return decode(mediaType, kind, object)
	}, nil
}
