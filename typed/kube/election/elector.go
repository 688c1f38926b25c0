// Package election elects one of several processes as their leader, by a Lease of the API
// server and client-go's leader election. It is its own package since client-go's links all of
// its informers, listers and clients: only who elects a leader pays for them.
package election

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/uuid"
	"k8s.io/apimachinery/pkg/util/validation"
	coordinationv1 "k8s.io/client-go/kubernetes/typed/coordination/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/leaderelection"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
	"k8s.io/klog/v2"

	"github.com/kubetyped/informer/internal/argument"
	"github.com/kubetyped/informer/internal/goroutine"
)

// Elector elects one of several processes as their leader, by a Lease object of the
// API server and client-go's leader election. It implements control.Elector.
//
// The lead is given up as soon as the work is done, so that another process need not wait
// until the Lease expires; but never while work is still continuing.
type Elector struct {
	lock   resourcelock.LeaseLock
	config leaderelection.LeaderElectionConfig
}

// Option sets up an Elector.
type Option func(*Elector) error

// WithIdentity sets how this process appears in the Lease; no other process may
// have the same identity. Otherwise it is the host's name and a random number.
func WithIdentity(identity string) Option {
	return func(e *Elector) error {
		if identity == "" {
			return errors.New("the identity is empty")
		}
		e.lock.LockConfig.Identity = identity
		return nil
	}
}

// WithLeaseDuration sets how long a process that has died keeps the lead. A process
// that leads renews its lease every 2/15 of that time, and stops to lead when it has
// not succeeded for 2/3 of it. Otherwise it is 15 seconds, as in Kubernetes' own
// components. The least is three seconds: client-go rounds the times of a Lease down to seconds, so that
// another process may not notice the renewals of a shorter one in time.
func WithLeaseDuration(d time.Duration) Option {
	return func(e *Elector) error {
		if d < 3*time.Second {
			return fmt.Errorf("the lease duration %v is less than three seconds", d)
		}
		e.config.LeaseDuration, e.config.RenewDeadline, e.config.RetryPeriod = d, d*2/3, d*2/15
		return nil
	}
}

// NewElector returns an elector by the Lease of the given namespace and name, which
// it makes if it is not there. The processes need the verbs get, create and update
// for it. It returns an error if the configuration or an option cannot be used, or if the API
// server would refuse a Lease of that namespace and name.
func NewElector(config *rest.Config, namespace, name string, opts ...Option) (*Elector, error) {
	failed := func(err error) (*Elector, error) {
		return nil, fmt.Errorf("elector by the lease %s/%s: %w", namespace, name, err)
	}
	switch {
	case config == nil:
		return failed(errors.New("client configuration is nil"))
	case namespace == "" || name == "":
		return failed(errors.New("the lease needs a namespace and a name"))
	}
	if problems := validation.IsDNS1123Label(namespace); len(problems) > 0 {
		return failed(fmt.Errorf("%q cannot be the name of a namespace: %s", namespace, strings.Join(problems, ", ")))
	}
	if problems := validation.IsDNS1123Subdomain(name); len(problems) > 0 {
		return failed(fmt.Errorf("%q cannot be the name of a lease: %s", name, strings.Join(problems, ", ")))
	}
	client, err := coordinationv1.NewForConfig(config)
	if err != nil {
		return failed(err)
	}
	host, err := os.Hostname()
	if err != nil {
		return failed(err)
	}
	e := &Elector{lock: resourcelock.LeaseLock{
		LeaseMeta:  metav1.ObjectMeta{Namespace: namespace, Name: name},
		Client:     client,
		LockConfig: resourcelock.ResourceLockConfig{Identity: host + "_" + string(uuid.NewUUID())},
	}}
	e.config.Name = namespace + "/" + name
	e.config.ReleaseOnCancel = true
	if err := argument.ApplyOptions(e, append([]Option{WithLeaseDuration(15 * time.Second)}, opts...)); err != nil {
		return failed(err)
	}
	return e, nil
}

// Identity returns how this process appears in the Lease.
func (e *Elector) Identity() string { return e.lock.Identity() }

// Elect waits until this process leads, and then calls lead with a context that ends when it
// does not lead any more, or ctx ends. If the lead is lost, the cause of the context is the last
// error of a renewal, or names the process that leads now. Elect keeps the lead until lead
// returns, even if ctx has ended, then gives it up, and returns. It never returns while lead
// runs. If ctx ends before this process leads, it returns ctx's error. It may be called again,
// one call after the other. A panic of lead is reported by utilruntime.HandleCrash; where that
// does not end the program, it is the error.
//
// What goes wrong with requests is logged by client-go and tried again. If the lead cannot be given up,
// Elect or client-go logs that, and the Lease expires.
func (e *Elector) Elect(ctx context.Context, lead func(ctx context.Context)) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	lock := e.lock
	guard := &guardedLock{Interface: &lock}
	running, resign := context.WithCancel(context.WithoutCancel(ctx))
	defer resign()
	defer context.AfterFunc(ctx, func() {
		if guard.end() {
			resign()
		}
	})()
	led := make(chan struct{})
	var panicked error // set before led is closed
	config := e.config
	config.Lock = guard
	config.Callbacks = leaderelection.LeaderCallbacks{
		OnStartedLeading: func(leading context.Context) {
			defer close(led)
			defer resign()
			if !guard.now().leads() {
				return
			}
			defer guard.stop()
			panicked = work(ctx, leading, lead, func() error {
				return fmt.Errorf("the lease %s is not renewed for %v: %w", config.Name, config.RenewDeadline, cmp.Or(guard.now().failure, context.DeadlineExceeded))
			})
		},
		OnStoppedLeading: func() {},
	}
	elector, err := leaderelection.NewLeaderElector(config)
	if err != nil {
		return fmt.Errorf("elector by the lease %s: %w", config.Name, err)
	}
	elector.Run(running)
	if guard.now().won {
		<-led
	}
	end := guard.now()
	if end.tried && !end.released {
		e.giveUp(ctx, &lock)
	}
	if !end.leads() {
		return ctx.Err()
	}
	if panicked != nil {
		return fmt.Errorf("elector by the lease %s: %w", config.Name, panicked)
	}
	return nil
}

// work calls lead with a context that ends with both of the others, and returns its panic. If leading ends
// first, the cause is that of lost.
func work(ctx, leading context.Context, lead func(context.Context), lost func() error) (panicked error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	defer context.AfterFunc(leading, func() { cancel(lost()) })()
	return goroutine.Contain(ctx, "the function that is called", func() error { lead(ctx); return nil })
}

// giveUp gives up a lead that client-go has not given up: the lock refused it, or the answer to the
// request that won the lead was lost.
func (e *Elector) giveUp(ctx context.Context, lock resourcelock.Interface) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), e.config.RenewDeadline)
	defer cancel()
	var err error
	for range 5 {
		if err = releaseOnce(ctx, lock); !apierrors.IsConflict(err) { // with the last renewal
			break
		}
	}
	if err != nil && !apierrors.IsNotFound(err) {
		klog.FromContext(ctx).Error(err, "The lead is not given up: another process waits until the lease expires", "lease", e.config.Name)
	}
}

// releaseOnce releases a lock if this process holds it.
func releaseOnce(ctx context.Context, lock resourcelock.Interface) error {
	record, _, err := lock.Get(ctx)
	if err != nil || record.HolderIdentity != lock.Identity() {
		return err
	}
	now := metav1.Now()
	return lock.Update(ctx, resourcelock.LeaderElectionRecord{
		LeaderTransitions: record.LeaderTransitions, LeaseDurationSeconds: 1, AcquireTime: now, RenewTime: now,
	})
}
