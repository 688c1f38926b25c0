package fleet

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	utilruntime "k8s.io/apimachinery/pkg/util/runtime"

	"github.com/kubetyped/informer/index"
	"github.com/kubetyped/informer/internal/argument"
	"github.com/kubetyped/informer/internal/goroutine"
	"github.com/kubetyped/informer/typed"
)

// Discovery keeps a set of clusters up to date with objects that describe them, see
// [Discover]. Its methods are safe for concurrent use.
type Discovery struct {
	clusters *Clusters
	hold     hold
	close    func()

	mu       sync.Mutex
	owners   map[string]index.Key    // guarded by mu; of clusters that it has put in
	reported map[index.Key][]Cluster // guarded by mu; by objects that could be used
	failures map[index.Key]error     // guarded by mu
	broken   map[index.Key]error     // guarded by mu; those of failures that are of the object itself
	closed   bool                    // guarded by mu
}

// Handled is an informer that calls handlers for its objects: a *typed.Informer or a
// *typed.SharedInformer.
type Handled[T index.Object] interface {
	Name() string
	Handle(handler typed.Handler[T], opts ...typed.HandlerOption) (*typed.Registration, error)
}

// Discover keeps a set up to date with the objects of an informer: it has the clusters that
// clustersOf returns for each of them, such as [FromSecret] for Secrets.
//
//		secrets := typed.NewInformer(kube.FromREST[*corev1.Secret](home, kube.WithNamespace("clusters"), kube.WithLabelSelector(…)))
//		discovery, err := fleet.Discover(clusters, secrets, fleet.FromSecret("kubeconfig"))
//
//	 1. Informers that follow the set do not sync before the informer here has, and so not
//	    with half of the clusters.
//	 2. A cluster leaves the set with the object that it came from, or when clustersOf no
//	    longer returns it. When its configuration is another one, it changes, see
//	    Clusters.Put; an object that describes the same clusters as before changes nothing.
//	 3. An object for which clustersOf returns an error, or panics, leaves all as it was,
//	    its own clusters included. Failures and the log report it.
//	 4. If two objects describe clusters of one name, the first one has the name, until it
//	    is gone; the other is a failure. So is an object that describes a cluster of a name
//	    that the program itself has put in.
//
// It works until Close is called; when the informer stops, clusters stay. Discover returns
// an error if an argument is nil or the informer has stopped.
func Discover[T index.Object](clusters *Clusters, from Handled[T], clustersOf func(T) ([]Cluster, error)) (*Discovery, error) {
	switch {
	case clusters == nil:
		return nil, errors.New("discovery of clusters: set of clusters is nil")
	case argument.IsNil(from):
		return nil, errors.New("discovery of clusters: informer is nil")
	case clustersOf == nil:
		return nil, errors.New("discovery of clusters: cluster function is nil")
	}
	d := &Discovery{
		clusters: clusters, hold: hold{waitsFor: from.Name()},
		owners: map[string]index.Key{}, reported: map[index.Key][]Cluster{}, failures: map[index.Key]error{}, broken: map[index.Key]error{},
	}
	take := func(obj T) { d.take(index.KeyOf(obj), func() ([]Cluster, error) { return clustersOf(obj) }) }
	clusters.hold(&d.hold)
	registration, err := from.Handle(typed.HandlerFuncs[T]{
		AddFunc:    func(obj T, _ bool) { take(obj) },
		UpdateFunc: func(_, obj T) { take(obj) },
		DeleteFunc: func(deleted typed.Deleted[T]) { d.forget(deleted.Key) },
	}, typed.WithHandlerName("discovery of clusters"), typed.WithOnSynced(func() { clusters.release(&d.hold) }))
	if err != nil {
		clusters.release(&d.hold)
		return nil, fmt.Errorf("discovery of clusters: %w", err)
	}
	d.close = registration.Close
	return d, nil
}

// Close ends the discovery. The clusters that it has put into the set stay there.
func (d *Discovery) Close() {
	d.mu.Lock()
	d.closed = true
	d.mu.Unlock()
	d.close()
	d.clusters.release(&d.hold)
}

// Failure describes an object that clusters could not be made of.
type Failure struct {
	// Key is that of the object.
	Key index.Key
	// Err is the reason.
	Err error
}

// Failures returns the objects that clusters cannot be made of now, in the order of their
// keys. The slice is the caller's.
func (d *Discovery) Failures() []Failure {
	d.mu.Lock()
	defer d.mu.Unlock()
	var all []Failure
	for key, err := range d.failures {
		all = append(all, Failure{key, err})
	}
	slices.SortFunc(all, func(a, b Failure) int { return strings.Compare(a.Key.String(), b.Key.String()) })
	return all
}

// take takes in the clusters of an object.
func (d *Discovery) take(key index.Key, clustersOf func() ([]Cluster, error)) {
	clusters, err := contained(clustersOf)
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.closed {
		return
	}
	if err != nil {
		d.broken[key] = err
	} else {
		delete(d.broken, key)
		d.reported[key] = clusters
		err = d.settle(key)
	}
	d.note(key, err)
}

// contained returns what a function returns, or an error if it panics.
func contained(clustersOf func() ([]Cluster, error)) (clusters []Cluster, err error) {
	defer func() {
		if p := recover(); p != nil {
			goroutine.Report(context.Background(), p)
			err = &goroutine.PanicError{Of: "the function that returns clusters", Value: p}
		}
	}()
	return clustersOf()
}

// settle puts the clusters of an object into the set, and takes out others that it had. It
// returns an error for those that the set cannot have. The caller holds mu.
func (d *Discovery) settle(key index.Key) error {
	var errs []error
	wanted := map[string]bool{}
	for _, c := range d.reported[key] {
		if wanted[c.Name] {
			errs = append(errs, fmt.Errorf("cluster %s: there are two of that name", c.Name))
			continue
		}
		wanted[c.Name] = true
		owner, owned := d.owners[c.Name]
		before, exists := d.clusters.Get(c.Name)
		var err error
		switch {
		case owned && owner != key:
			err = fmt.Errorf("add cluster %q: already defined by object %q: rename one", c.Name, owner)
		case !owned && exists:
			err = fmt.Errorf("cluster %s: there is one of that name in the set", c.Name)
		case exists && sameConfig(before.Config, c.Config):
		default:
			if err = d.clusters.Put(c); err == nil {
				d.owners[c.Name] = key
			}
		}
		if err != nil {
			errs = append(errs, err)
		}
	}
	d.remove(key, wanted)
	return errors.Join(errs...)
}

// remove takes the clusters of an object but those that are wanted out of the set, and has
// others have their names that wait for them. The caller holds mu.
func (d *Discovery) remove(key index.Key, wanted map[string]bool) {
	var free []string
	for name, owner := range d.owners {
		if owner == key && !wanted[name] {
			free = append(free, name)
		}
	}
	if len(free) == 0 {
		return
	}
	d.clusters.Remove(free...)
	for _, name := range free {
		delete(d.owners, name)
	}
	for other, clusters := range d.reported {
		waits := func(c Cluster) bool { return slices.Contains(free, c.Name) }
		if other != key && d.failures[other] != nil && slices.ContainsFunc(clusters, waits) {
			d.note(other, errors.Join(d.broken[other], d.settle(other)))
		}
	}
}

// forget takes the clusters of an object that is gone out of the set.
func (d *Discovery) forget(key index.Key) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.closed {
		return
	}
	delete(d.reported, key)
	delete(d.failures, key)
	delete(d.broken, key)
	d.remove(key, nil)
}

// note notes what is wrong with an object, nil if nothing is. The caller holds mu.
func (d *Discovery) note(key index.Key, err error) {
	if err == nil {
		delete(d.failures, key)
		return
	}
	d.failures[key] = err
	utilruntime.HandleErrorWithContext(context.Background(), err, "Rejected a cluster definition", "object", key, "informer", d.hold.waitsFor)
}
