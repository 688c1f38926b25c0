package main

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/kubetyped/informer/apitest"
)

// Tests in synctest.Test do not wait: the clock moves on as soon as nothing is left to do, and
// synctest.Wait returns when that is so. The controller and the server are the same as in all other
// tests.

// TestHourWithoutQuota: the server refuses Pods for an hour.
func TestHourWithoutQuota(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := apitest.Start(t)
		c, _ := start(t, srv, 2)
		forbidden := srv.Inject(apitest.Fault{
			Verb: "create", Resource: "pods",
			Err: apierrors.NewForbidden(corev1.Resource("pods"), "", errors.New("exceeded quota")),
		})
		begun := time.Now()
		require.NoError(t, srv.Create(t.Context(), asking("web", "3")))

		time.Sleep(time.Hour)
		synctest.Wait()
		assert.Empty(t, podsOf(t, srv, "web"))
		tried := srv.Requests("create", "pods")
		assert.Less(t, tried, 30, "it tries less and less often")
		assert.Equal(t, 1, c.queue.Stats().Delayed, "and is going to")
		forbidden.Remove()

		// What waits is the longest wait of the queue, and no more than that.
		time.Sleep(1000 * time.Second)
		synctest.Wait()
		assert.Len(t, podsOf(t, srv, "web"), 3)
		assert.Equal(t, tried+3, srv.Requests("create", "pods"))
		assert.Equal(t, time.Hour+1000*time.Second, time.Since(begun))
	})
}

// TestLeaderCutOff: a leader whose writes fail stops before its Lease expires, and only then does
// another one work.
func TestLeaderCutOff(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := apitest.Start(t)
		config := srv.Config()
		config.UserAgent = "first"
		first, err := newController(srv.Config())
		require.NoError(t, err)
		elector, err := newElector(config, "default", "first")
		require.NoError(t, err)
		begun := time.Now()
		ended := make(chan error, 1)
		go func() { ended <- first.run(context.Background(), 1, elector) }()
		synctest.Wait()
		_, _ = start(t, srv, 1)
		time.Sleep(time.Hour)
		assert.Equal(t, "first", *leaseOf(t, srv, "default").Spec.HolderIdentity)

		srv.Inject(apitest.Fault{UserAgent: "first", Verb: "update", End: apitest.Reset})
		assert.Error(t, <-ended)
		stopped := time.Since(begun) - time.Hour
		assert.Less(t, stopped, 15*time.Second, "before the lease has expired")
		require.NoError(t, srv.Create(t.Context(), asking("web", "1")))
		synctest.Wait()
		assert.Empty(t, podsOf(t, srv, "web"), "nobody works")
		time.Sleep(30 * time.Second)
		synctest.Wait()
		assert.Len(t, podsOf(t, srv, "web"), 1, "the other one does")
		assert.NotEqual(t, "first", *leaseOf(t, srv, "default").Spec.HolderIdentity)
	})
}
