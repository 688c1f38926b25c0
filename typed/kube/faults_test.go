package kube_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/kubetyped/informer/apitest"
	"github.com/kubetyped/informer/apitest/history"
	"github.com/kubetyped/informer/index"
	"github.com/kubetyped/informer/internal/test/rig"
	"github.com/kubetyped/informer/typed"
	"github.com/kubetyped/informer/typed/kube"
)

// quickly makes a source try again at once, or nearly.
var quickly = kube.WithBackoff(10*time.Millisecond, 100*time.Millisecond)

// TestFaults breaks the connection in all ways that the server can, while
// objects change, and checks that the history has neither gap nor duplicate
// and ends in the state of the server.
func TestFaults(t *testing.T) {
	for _, test := range []struct {
		name  string
		fault func(ctx context.Context, t *testing.T, srv *apitest.Server)
	}{
		{name: "watch ends", fault: func(_ context.Context, t *testing.T, srv *apitest.Server) {
			require.Equal(t, 1, srv.Inject(apitest.Fault{Resource: "pods", Open: true, End: apitest.Clean}).Met())
		}},
		{name: "watch ends in the middle of an object", fault: func(_ context.Context, t *testing.T, srv *apitest.Server) {
			require.Equal(t, 1, srv.Inject(apitest.Fault{Resource: "pods", Open: true, End: apitest.Torn}).Met())
		}},
		{name: "error in the watch", fault: func(_ context.Context, t *testing.T, srv *apitest.Server) {
			require.Equal(t, 1, srv.Inject(apitest.Fault{Resource: "pods", Open: true, Err: apierrors.NewInternalError(fmt.Errorf("made up"))}).Met())
		}},
		{name: "too many requests", fault: func(_ context.Context, t *testing.T, srv *apitest.Server) {
			srv.Inject(apitest.Fault{Verb: "watch", Resource: "pods", Times: 1, Err: apierrors.NewTooManyRequests("busy", 0)})
			srv.Inject(apitest.Fault{Resource: "pods", Open: true, End: apitest.Clean})
		}},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			srv, client := rig.Serve(t, 50)
			pods := typed.NewInformer(kube.FromClient(client.CoreV1().Pods(""), quickly))
			h := rig.Record(t, pods)
			ctx := rig.Start(t, pods)
			require.NoError(t, pods.WaitForSync(ctx))
			for round := range 2 {
				require.NoError(t, srv.WaitForWatches(ctx, "pods", 1))
				test.fault(ctx, t, srv)
				for i := range 20 {
					require.NoError(t, srv.Update(ctx, rig.NewPod(fmt.Sprintf("pod-%d", i%5+20), fmt.Sprintf("round-%d-%d", round, i))))
				}
				if round == 0 {
					require.NoError(t, srv.Create(ctx, rig.NewPod("pod-new", "")))
				}
				require.NoError(t, srv.Delete(ctx, rig.NewPod(fmt.Sprintf("pod-%d", 30+round), "")))
			}
			rig.CheckSame(ctx, t, pods, client)
			require.Eventually(t, func() bool {
				status := pods.Status()
				return status.Handlers[0].Backlog == 0 && status.Err == nil
			}, time.Minute, time.Millisecond, "the handler has caught up, and the source works again")
			assert.Empty(t, history.Diff("cache", pods.List(), "history", h.Objects()))
		})
	}
}

// waitInVain returns the error of WaitForSync after the source has failed.
func waitInVain[T index.Object](ctx context.Context, t *testing.T, informer *typed.Informer[T]) error {
	t.Helper()
	require.Eventually(t, func() bool { return informer.Status().Failures > 0 }, time.Minute, time.Millisecond)
	enough := errors.New("waited long enough")
	ctx, cancel := context.WithCancelCause(ctx)
	cancel(enough)
	err := informer.WaitForSync(ctx)
	require.ErrorIs(t, err, enough)
	return err
}

func TestListThatFails(t *testing.T) {
	pods := corev1.Resource("pods")
	for _, test := range []struct {
		name string
		err  error
		is   func(error) bool
	}{
		{"forbidden", apierrors.NewForbidden(pods, "", fmt.Errorf("no such right")), apierrors.IsForbidden},
		{"not found", apierrors.NewNotFound(pods, ""), apierrors.IsNotFound},
		{"unavailable", apierrors.NewServiceUnavailable("starting"), apierrors.IsServiceUnavailable},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			srv, client := rig.Serve(t, 1)
			lift := srv.Inject(apitest.Fault{Resource: "pods", Err: test.err})
			informer := typed.NewInformer(kube.FromClient(client.CoreV1().Pods(""), quickly))
			ctx := rig.Start(t, informer)
			err := waitInVain(ctx, t, informer)
			assert.True(t, test.is(err), "%v", err)
			var status *apierrors.StatusError
			assert.ErrorAs(t, err, &status)
			assert.Positive(t, informer.Status().Failures)
			lift.Remove()
			require.NoError(t, informer.WaitForSync(ctx))
			assert.NoError(t, informer.Status().Err)
			assert.True(t, test.is(informer.Status().LastErr))
		})
	}
	t.Run("certificate", func(t *testing.T) {
		t.Parallel()
		srv := httptest.NewUnstartedServer(nil) // of an unknown authority
		srv.Config.ErrorLog = log.New(io.Discard, "", 0)
		srv.StartTLS()
		defer srv.Close()
		client := kubernetes.NewForConfigOrDie(&rest.Config{Host: srv.URL})
		informer := typed.NewInformer(kube.FromClient(client.CoreV1().Pods("")))
		ctx := rig.Start(t, informer)
		assert.ErrorContains(t, waitInVain(ctx, t, informer), "certificate")
	})
}

func TestUnusableObjects(t *testing.T) {
	t.Parallel()
	srv, client := rig.Serve(t, 2)
	pods := typed.NewInformer(kube.FromClient(client.CoreV1().Pods("")))
	ctx := rig.Start(t, pods)
	require.NoError(t, pods.WaitForSync(ctx))
	require.NoError(t, srv.WaitForWatches(ctx, "pods", 1))

	config := &corev1.ConfigMap{
		TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "ConfigMap"},
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "settings", ResourceVersion: "17"},
	}
	require.Equal(t, 1, srv.Inject(apitest.Fault{Resource: "pods", Open: true, Event: watch.Event{Type: watch.Added, Object: config}}).Met())
	require.NoError(t, srv.Create(ctx, rig.NewPod("next", "")))
	require.NoError(t, pods.WaitForResourceVersion(ctx, srv.ResourceVersion()))
	require.Eventually(t, func() bool { return pods.Status().Rejected == 1 }, time.Minute, time.Millisecond)
	rejected := pods.Status().LastRejected
	assert.Equal(t, "informer "+pods.Name()+`: object "default/settings" at resource version "17" was left out: kind is ConfigMap of v1, want Pod of v1`, rejected.Error())
	assert.Equal(t, 3, pods.Len(), "nothing else is lost")

	nameless := rig.NewPod("", "")
	nameless.TypeMeta = metav1.TypeMeta{APIVersion: "v1", Kind: "Pod"}
	require.Equal(t, 1, srv.Inject(apitest.Fault{Resource: "pods", Open: true, Event: watch.Event{Type: watch.Modified, Object: nameless}}).Met())
	require.NoError(t, srv.Create(ctx, rig.NewPod("another", "")))
	require.NoError(t, pods.WaitForResourceVersion(ctx, srv.ResourceVersion()))
	require.Eventually(t, func() bool { return pods.Status().Rejected == 2 }, time.Minute, time.Millisecond)
	assert.ErrorContains(t, pods.Status().LastRejected, "object has no name")
	rig.CheckSame(ctx, t, pods, client)
}

// TestStopDuringList stops an informer whose list takes for ever.
func TestStopDuringList(t *testing.T) {
	t.Parallel()
	rig.InBubble(t, func(t *testing.T) {
		srv, client := rig.Serve(t, 1)
		srv.Inject(apitest.Fault{Resource: "pods", Way: apitest.Requests, Latency: time.Hour})
		for i, opts := range [][]kube.SourceOption{nil, {kube.WithoutWatchList()}} {
			pods := typed.NewInformer(kube.FromClient(client.CoreV1().Pods(""), opts...))
			ctx, cancel := context.WithCancel(t.Context())
			ended := make(chan error)
			go func() { ended <- pods.Run(ctx) }()
			synctest.Wait()
			require.Equal(t, i+1, srv.Requests("", "pods"))
			begin := time.Now()
			cancel()
			assert.NoError(t, <-ended)
			assert.Zero(t, time.Since(begin), "a stop waits for no answer")
		}
	})
}

func TestErrorNamesTheResource(t *testing.T) {
	t.Parallel()
	srv, client := rig.Serve(t, 0)
	srv.Inject(apitest.Fault{Resource: "pods", Err: apierrors.NewForbidden(corev1.Resource("pods"), "", fmt.Errorf("no such right"))})
	pods := typed.NewInformer(kube.FromClient(client.CoreV1().Pods("")), typed.WithName("pods of team a"))
	ctx := rig.Start(t, pods)
	message := waitInVain(ctx, t, pods).Error()
	for _, part := range []string{"pods of team a", "forbidden", "no such right", "list or watch fails since "} {
		assert.True(t, strings.Contains(message, part), "%q in %q", part, message)
	}
}
