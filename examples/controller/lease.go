package main

import (
	"context"
	"errors"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/leaderelection"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
)

// lease is what the instances of a controller compete for; the one that holds it
// works.
type lease struct {
	client    kubernetes.Interface
	namespace string
	identity  string // of this instance
}

// hold waits for the lease and calls work, whose context ends when the lease is
// lost. The lease is given back when work has returned, so that the next one
// need not wait until it has run out. If ctx ends first, work is not called.
func (l lease) hold(ctx context.Context, work func(leading context.Context) error) error {
	electing, giveBack := context.WithCancel(context.WithoutCancel(ctx))
	defer giveBack()
	elected := make(chan context.Context, 1)
	elector, err := leaderelection.NewLeaderElector(leaderelection.LeaderElectionConfig{
		Lock: &resourcelock.LeaseLock{
			LeaseMeta:  metav1.ObjectMeta{Namespace: l.namespace, Name: "kubetyped-example"},
			Client:     l.client.CoordinationV1(),
			LockConfig: resourcelock.ResourceLockConfig{Identity: l.identity},
		},
		LeaseDuration:   15 * time.Second,
		RenewDeadline:   10 * time.Second,
		RetryPeriod:     2 * time.Second,
		ReleaseOnCancel: true,
		Callbacks: leaderelection.LeaderCallbacks{
			OnStartedLeading: func(leading context.Context) { elected <- leading },
			OnStoppedLeading: func() {},
		},
	})
	if err != nil {
		return err
	}
	var working sync.WaitGroup
	working.Go(func() {
		defer giveBack()
		select {
		case leading := <-elected:
			if err = work(leading); leading.Err() != nil {
				err = errors.Join(err, errors.New("the lease was lost"))
			}
		case <-ctx.Done():
		}
	})
	elector.Run(electing)
	working.Wait()
	return err
}
