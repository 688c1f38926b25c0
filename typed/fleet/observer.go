package fleet

import (
	"errors"
	"fmt"
	"strings"
	"sync/atomic"

	"k8s.io/apimachinery/pkg/types"

	"github.com/kubetyped/informer/index"
	"github.com/kubetyped/informer/internal/argument"
	"github.com/kubetyped/informer/internal/monitor"
	"github.com/kubetyped/informer/typed"
)

// Observer is what sees writes to one cluster of an informer. Controllers give it to
// control.Expectations:
//
//	err := expectations.Expect(key, fleet.NewObserver(informer, pods, cluster), created.ResourceVersion)
type Observer[T Object] struct {
	informer index.Reader[InCluster[T]]
	of       *Source[T]
	cluster  string
}

// NewObserver returns what sees writes to a cluster. Of is the source of the informer, or
// what source.FilterMap has made that of.
func NewObserver[T Object](informer index.Reader[InCluster[T]], of *Source[T], cluster string) *Observer[T] {
	return &Observer[T]{informer, of, cluster}
}

// ExpectVersion returns an expectation that reads of the informer reflect a version of the
// cluster. It returns an error if that is not a positive number, the informer does not run,
// or the set does not have the cluster.
func (o *Observer[T]) ExpectVersion(version string) (typed.Expected, error) { return o.expect(version) }

// ExpectDeleted returns an expectation that reads of the informer reflect that an object of the
// cluster was deleted: it is gone, or there is one of another UID, or it is marked as being
// deleted. The object is given in any state that it had before, with its cluster or as the
// cluster has it. It returns an error if that is nil or has no UID, and those of ExpectVersion
// for its version.
func (o *Observer[T]) ExpectDeleted(obj typed.Identified) (typed.Expected, error) {
	if argument.IsNil(obj) {
		return nil, fmt.Errorf("cluster %s: a deletion is not expected: object is nil", o.cluster)
	}
	e, err := o.expect(obj.GetResourceVersion())
	if err != nil {
		return nil, err
	}
	namespace := obj.GetNamespace()
	namespace = namespace[strings.LastIndexByte(namespace, '/')+1:]
	e.deleted, e.uid = Key(o.cluster, namespace, obj.GetName()), obj.GetUID()
	if e.uid == "" {
		return nil, fmt.Errorf("cluster %s: deletion of %q is not expected: the object has no UID", o.cluster, e.deleted)
	}
	return e, nil
}

// ExpectKeyVersion returns an expectation that reads of one object reflect a version of the
// cluster. If the source of the cluster has several watches, as one of package shard has, it
// waits for that of the object, where ExpectVersion waits for the slowest. The key is that of
// the object with its cluster, or as the cluster has it. It returns errors as ExpectVersion does.
func (o *Observer[T]) ExpectKeyVersion(key index.Key, version string) (typed.Expected, error) {
	e, err := o.expect(version)
	if err != nil {
		return nil, err
	}
	by, ok := o.informer.(interface {
		ExpectKeyVersion(key index.Key, version string) (typed.Expected, error)
	})
	if !ok {
		return e, nil
	}
	key = Key(o.cluster, key.Namespace[strings.LastIndexByte(key.Namespace, '/')+1:], key.Name)
	ofKey, err := by.ExpectKeyVersion(key, version)
	if err != nil {
		return e, nil // the informer does not know the version of the key yet
	}
	return &expectedOfKey[T]{expected: e, ofKey: ofKey}, nil
}

// expectedOfKey is a version of one object, or the version of its whole cluster.
type expectedOfKey[T Object] struct {
	*expected[T]
	ofKey typed.Expected
}

// Met implements typed.Expected.
func (e *expectedOfKey[T]) Met() bool { return e.ofKey.Met() || e.expected.Met() }

// Watch implements typed.Expected.
func (e *expectedOfKey[T]) Watch(look func()) {
	e.ofKey.Watch(look)
	e.expected.Watch(look)
}

// Unwatch implements typed.Expected.
func (e *expectedOfKey[T]) Unwatch() {
	e.ofKey.Unwatch()
	e.expected.Unwatch()
}

// Covers implements typed.Expected.
func (e *expectedOfKey[T]) Covers(other typed.Expected) bool {
	o, ok := other.(*expectedOfKey[T])
	return ok && o.member == e.member && e.ofKey.Covers(o.ofKey)
}

// String implements typed.Expected.
func (e *expectedOfKey[T]) String() string { return e.ofKey.String() }

func (o *Observer[T]) expect(version string) (*expected[T], error) {
	switch {
	case o == nil || argument.IsNil(o.informer) || o.of == nil:
		return nil, errors.New("observer: informer or source is nil")
	case o.of.err != nil:
		return nil, o.of.err
	case !atLeast(version, version):
		return nil, fmt.Errorf("cluster %s: resource version %q is not a positive number", o.cluster, version)
	}
	g, _ := o.of.latest()
	if g == nil {
		return nil, fmt.Errorf("cluster %s: version %s is not expected: %w", o.cluster, version, typed.ErrNotStarted)
	}
	m := g.member(o.cluster)
	if m == nil {
		return nil, fmt.Errorf("cluster %s: version %s is not expected: %w", o.cluster, version, ErrNotMember)
	}
	return &expected[T]{member: m, from: o.informer, version: version, lists: m.health.countLists()}, nil
}

// expected is a version of a cluster, or a deletion at a version.
type expected[T Object] struct {
	member  *member[T]
	from    index.Reader[InCluster[T]]
	version string
	lists   int       // that there were when it was made
	deleted index.Key // zero: no deletion
	uid     types.UID

	reflected atomic.Bool // reads reflect the version
	waiter    waiter
}

// Met implements typed.Expected. A cluster that has left will never be heard of.
func (e *expected[T]) Met() bool {
	switch {
	case monitor.IsClosed(e.member.left), e.member.ctx.Err() != nil:
		return true
	case !e.reflected.Load():
		return false
	case e.deleted == index.Key{}:
		return true
	}
	obj, ok := e.from.Get(e.deleted)
	return !ok || obj.GetUID() != e.uid || obj.GetDeletionTimestamp() != nil
}

// Watch implements typed.Expected. A deletion is looked for with each report of the cluster
// from the version on.
func (e *expected[T]) Watch(look func()) {
	e.waiter = waiter{version: e.version, stays: e.deleted != index.Key{}, reached: func() {
		e.reflected.Store(true)
		look()
	}}
	e.member.await(&e.waiter)
}

// Unwatch implements typed.Expected.
func (e *expected[T]) Unwatch() { e.member.health.forget(&e.waiter) }

// Listed implements typed.Expected.
func (e *expected[T]) Listed() bool { return e.member.health.countLists() != e.lists }

// Covers implements typed.Expected.
func (e *expected[T]) Covers(other typed.Expected) bool {
	o, ok := other.(*expected[T])
	return ok && o.member == e.member && o.deleted == e.deleted && o.uid == e.uid && atLeast(e.version, o.version)
}

// String implements typed.Expected.
func (e *expected[T]) String() string {
	what := "version"
	if e.deleted != (index.Key{}) {
		what = fmt.Sprintf("deletion of %q at version", e.deleted)
	}
	return fmt.Sprintf("cluster %s: %s %s, is at %q", e.member.name, what, e.version, e.member.health.versionNow())
}
