package ctrlruntime

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	"github.com/prometheus/client_golang/prometheus"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	ctrlmetrics "sigs.k8s.io/controller-runtime/pkg/metrics"

	"github.com/kubetyped/informer/adapters/metrics"
	"github.com/kubetyped/informer/typed/control"
	"github.com/kubetyped/informer/typed/inspect"
	"github.com/kubetyped/informer/typed/inspect/snapshot"
	"github.com/kubetyped/informer/typed/kube"
)

// InspectPath is the path of the page that Inspect mounts.
const InspectPath = "/debug/informers/"

// Inspect shows a manager whose cache NewCache has made. Call it before the manager starts:
//
//	inspector, err := ctrlruntime.Inspect(mgr)
//
// This has three effects:
//
//  1. The manager's metrics server has the page of an inspect.Inspector at InspectPath, behind
//     the server's authentication, if it has any. It shows the informers of the cache, and what
//     the options and inspector.Add name. It shows controllers and their queues, with the
//     numbers of controller-runtime's own metrics, and the counts of answers to own writes, if
//     NewCache was given WithOwnWrites. It also shows kinds that the server does not have, and
//     kinds that the cache has several times, as type, unstructured or metadata. A manager
//     without a metrics server, whose BindAddress is "0", has no page: serve the inspector.
//  2. The registry of controller-runtime has the metrics of the informers and of own writes,
//     see package adapters/metrics, until the manager ends.
//  3. The readiness check "informers" fails while an informer is not synced, and names it with
//     the cause. Kinds that the server does not have, and namespaces that may not be listed,
//     are named, too, and do not make it fail; see Waiting and WithNamespaces.
//
// Other caches that NewCache has made are added as factories, and then show their informers:
//
//	err := inspector.Add(inspect.WithFactories(other.(inspect.Factory)))
//
// It returns an error if the cache is another one, the manager has started, the metrics are in
// the registry already, as those of another manager, or an option cannot be used.
func Inspect(mgr manager.Manager, opts ...inspect.Option) (*inspect.Inspector, error) {
	if mgr == nil {
		return nil, errors.New("inspect manager: it is nil")
	}
	inspector, err := inspected(mgr, opts)
	if err != nil {
		return nil, fmt.Errorf("inspect manager: %w", err)
	}
	return inspector, nil
}

func inspected(mgr manager.Manager, opts []inspect.Option) (*inspect.Inspector, error) {
	own, ok := mgr.GetCache().(*managerCache)
	if !ok {
		return nil, errNotOurs
	}
	controllers, err := newControllerMetrics()
	if err != nil {
		return nil, err
	}
	inspector, err := inspect.New(inspect.WithFactories(own), inspect.WithControllers(controllers.controllers), inspect.WithProblems(own.problems))
	if err != nil {
		return nil, err
	}
	if own.sharing {
		opts = append(opts[:len(opts):len(opts)], inspect.WithDeduplication(func() snapshot.Deduplication { return snapshot.Deduplication(kube.Deduplication()) }))
	}
	of := []metrics.Option{metrics.WithFactories(inspector), metrics.WithoutClientGoNames()}
	if own.writes != nil {
		opts = append(opts[:len(opts):len(opts)], inspect.WithWrites(own.writes))
		of = append(of, metrics.WithWrites(own.writes))
	}
	if err := inspector.Add(opts...); err != nil {
		return nil, err
	}
	measured, err := metrics.New(ctrlmetrics.Registry, of...)
	if already := (prometheus.AlreadyRegisteredError{}); errors.As(err, &already) {
		return nil, fmt.Errorf("another manager of this process is inspected, until it ends: %w", err)
	}
	if err != nil {
		return nil, err
	}
	err = errors.Join(
		mgr.AddMetricsServerExtraHandler(InspectPath, inspector),
		mgr.AddReadyzCheck("informers", func(*http.Request) error { return own.ready(inspector) }),
		mgr.Add(&inspection{inspector, func() { ctrlmetrics.Registry.Unregister(measured) }}))
	if err != nil {
		ctrlmetrics.Registry.Unregister(measured)
		return nil, err
	}
	return inspector, nil
}

var errNotOurs = errors.New("the cache is not one of ctrlruntime.NewCache; set options.NewCache of the manager to it")

// inspection ends with the manager.
type inspection struct {
	inspector *inspect.Inspector
	forget    func()
}

var _ manager.LeaderElectionRunnable = (*inspection)(nil)

// Start implements manager.Runnable.
func (i *inspection) Start(ctx context.Context) error {
	<-ctx.Done()
	i.inspector.Close() // open pages, for which the server would wait
	i.forget()
	return nil
}

// NeedLeaderElection implements manager.LeaderElectionRunnable.
func (*inspection) NeedLeaderElection() bool { return false }

// ready returns an error with the informers that are not synced, and then with the kinds that
// the server does not have, and with the namespaces that may not be listed, too.
func (c *managerCache) ready(inspector *inspect.Inspector) error {
	err := control.Ready(inspector.Informers()...)
	if err == nil {
		return nil
	}
	for _, kind := range Waiting(c) {
		err = errors.Join(err, fmt.Errorf("%s waits: %w", nameOf(kind, ""), c.whyWaiting(kind)))
	}
	return errors.Join(append([]error{err}, c.passedOver()...)...)
}
