package kube_test

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"

	"github.com/kubetyped/informer/apitest"
	"github.com/kubetyped/informer/internal/test/rig"
	"github.com/kubetyped/informer/typed"
	"github.com/kubetyped/informer/typed/kube"
)

// late is a reader of nothing, which takes its time.
type late struct{ time.Duration }

func (l late) Read([]byte) (int, error) {
	<-time.After(l.Duration)
	return 0, io.EOF
}

// TestUnusableWatches: if a watch breaks at the same place again and again,
// the objects are listed.
func TestUnusableWatches(t *testing.T) {
	t.Parallel()
	rig.InBubble(t, func(t *testing.T) {
		srv := apitest.Start(t)
		require.NoError(t, srv.Create(t.Context(), rig.NewPod("a", "")))
		var mu sync.Mutex
		garbled := 0 // guarded by mu
		config := with(srv.Config(), func(r *http.Request) *http.Response {
			mu.Lock()
			defer mu.Unlock()
			if !r.URL.Query().Has("watch") || srv.Requests("list", "pods") > 1 {
				return nil
			}
			garbled++
			broken := response(http.StatusOK, "")
			broken.Body = io.NopCloser(io.MultiReader(late{1010 * time.Millisecond}, strings.NewReader("<html>")))
			return broken
		})
		pods := typed.NewInformer(kube.FromREST[*corev1.Pod](config, kube.WithoutWatchList()))
		ctx := rig.Start(t, pods)
		require.NoError(t, srv.WaitForWatches(ctx, "pods", 1))
		require.NoError(t, srv.Create(ctx, rig.NewPod("b", "")))
		require.NoError(t, pods.WaitForResourceVersion(ctx, srv.ResourceVersion()))
		assert.NoError(t, pods.Status().Err)
		mu.Lock()
		defer mu.Unlock()
		assert.Equal(t, 3, garbled)
		assert.EqualValues(t, 3, pods.Status().FailedWatches)
		assert.Zero(t, pods.Status().FailedLists)
		assert.Equal(t, 2, srv.Requests("list", "pods"))
	})
}

// TestUnusableWatchesOfWholeFrames: a frame that has come as a whole is not cut off, even if the
// object in it is shorter than it says. The objects are listed as after other unusable watches.
func TestUnusableWatchesOfWholeFrames(t *testing.T) {
	t.Parallel()
	rig.InBubble(t, func(t *testing.T) {
		srv := apitest.Start(t)
		require.NoError(t, srv.Create(t.Context(), rig.NewPod("a", "")))
		event := []byte("\n\x08MODIFIED\x12\x18\n\x16k8s\x00\n\t\n\x02v1\x12\x03Pod\x12\x05\n\x7fabc") // metadata of 127 bytes, of which 3 are there
		frame := append([]byte{0, 0, 0, byte(len(event))}, event...)
		config := with(srv.Config(), func(r *http.Request) *http.Response {
			if !r.URL.Query().Has("watch") || srv.Requests("list", "pods") > 1 {
				return nil
			}
			broken := response(http.StatusOK, "")
			broken.Body = io.NopCloser(io.MultiReader(late{1010 * time.Millisecond}, bytes.NewReader(frame)))
			broken.Header.Set("Content-Type", "application/vnd.kubernetes.protobuf;stream=watch")
			return broken
		})
		pods := typed.NewInformer(kube.FromREST[*corev1.Pod](config, kube.WithoutWatchList()))
		ctx := rig.Start(t, pods)
		require.NoError(t, pods.WaitForSync(ctx))
		time.Sleep(10 * time.Minute)
		assert.Equal(t, 2, srv.Requests("list", "pods"))
		assert.EqualValues(t, 3, pods.Status().FailedWatches)
		err := pods.Status().LastErr
		var broken *kube.StreamError
		require.ErrorAs(t, err, &broken)
		assert.NotErrorIs(t, err, io.ErrUnexpectedEOF)
		assert.NotContains(t, err.Error(), "cut off")
		assert.NoError(t, pods.Status().Err)
	})
}

// TestUnusableWatchesOfManyVersions: watches that break at different places are watched again from
// there, without a list.
func TestUnusableWatchesOfManyVersions(t *testing.T) {
	t.Parallel()
	rig.InBubble(t, func(t *testing.T) {
		srv := apitest.Start(t, apitest.WithBookmarks(0))
		require.NoError(t, srv.Create(t.Context(), rig.NewPod("a", "")))
		var garbled sync.Map // by versions
		config := with(srv.Config(), func(r *http.Request) *http.Response {
			if !r.URL.Query().Has("watch") {
				return nil
			}
			if _, again := garbled.LoadOrStore(r.URL.Query().Get("resourceVersion"), true); again {
				return nil
			}
			broken := response(http.StatusOK, "")
			broken.Body = io.NopCloser(io.MultiReader(late{1010 * time.Millisecond}, strings.NewReader("<html>")))
			return broken
		})
		pods := typed.NewInformer(kube.FromREST[*corev1.Pod](config, kube.WithoutWatchList()))
		ctx := rig.Start(t, pods)
		for i := range 5 {
			require.NoError(t, srv.WaitForWatches(ctx, "pods", 1))
			require.NoError(t, srv.Create(ctx, rig.NewPod(fmt.Sprint("pod-", i), "")))
			require.NoError(t, pods.WaitForResourceVersion(ctx, srv.ResourceVersion()))
			srv.Inject(apitest.Fault{Resource: "pods", Open: true, End: apitest.Clean})
			synctest.Wait()
		}
		require.NoError(t, srv.WaitForWatches(ctx, "pods", 1))
		assert.EqualValues(t, 6, pods.Status().FailedWatches)
		assert.Equal(t, 1, srv.Requests("list", "pods"))
	})
}

// TestWatchesThatEnd: however a watch ends that has brought something, or lasted,
// the next one is opened at once.
func TestWatchesThatEnd(t *testing.T) {
	t.Parallel()
	t.Run("after events", func(t *testing.T) {
		t.Parallel()
		rig.InBubble(t, func(t *testing.T) {
			srv := apitest.Start(t, apitest.WithBookmarks(0))
			config := srv.Config()
			config.Timeout = 160 * time.Millisecond
			pods := typed.NewInformer(kube.FromREST[*corev1.Pod](config, kube.WithoutWatchList()))
			ctx := rig.Start(t, pods)
			require.NoError(t, pods.WaitForSync(ctx))
			begin := time.Now()
			for i := range 60 {
				require.NoError(t, srv.Create(ctx, rig.NewPod(fmt.Sprint("pod-", i), "")))
				require.NoError(t, pods.WaitForResourceVersion(ctx, srv.ResourceVersion()))
				time.Sleep(30 * time.Millisecond) // several of them a watch
			}
			assert.Equal(t, 60*30*time.Millisecond, time.Since(begin))
			assert.Equal(t, 1+60*30/160, srv.Requests("watch", "pods"))
			assert.NoError(t, pods.Status().Err)
		})
	})
	t.Run("after a while", func(t *testing.T) {
		t.Parallel()
		rig.InBubble(t, func(t *testing.T) {
			srv := apitest.Start(t, apitest.WithBookmarks(0))
			config := srv.Config()
			config.Timeout = 1100 * time.Millisecond
			pods := typed.NewInformer(kube.FromREST[*corev1.Pod](config, kube.WithoutWatchList()))
			ctx := rig.Start(t, pods)
			require.NoError(t, pods.WaitForSync(ctx))
			for n := range 5 {
				synctest.Wait()
				assert.Equal(t, 1+n, srv.Requests("watch", "pods"))
				time.Sleep(1100 * time.Millisecond)
			}
			assert.NoError(t, pods.Status().LastErr)
		})
	})
	t.Run("at once", func(t *testing.T) {
		t.Parallel()
		srv := apitest.Start(t, apitest.WithBookmarks(0))
		config := with(srv.Config(), func(r *http.Request) *http.Response {
			if r.URL.Query().Has("watch") {
				return response(http.StatusOK, "")
			}
			return nil
		})
		errs := make(chan error)
		pods := typed.NewInformer(kube.FromREST[*corev1.Pod](config, kube.WithoutWatchList()), typed.WithOnError(func(err error) error {
			select {
			case errs <- err:
			case <-t.Context().Done():
			}
			return nil
		}))
		ctx := rig.Start(t, pods)
		require.NoError(t, pods.WaitForSync(ctx))
		for _, told := range []string{"watch pods: ", "watches end with an error, or at once, again and again"} {
			err := <-errs
			for !strings.HasPrefix(err.Error(), told) {
				err = <-errs
			}
			assert.ErrorContains(t, err, "the server, or something in between, ended it without an event")
		}
	})
}

// TestWatchWithoutAnswer: a server that lists and does not answer to watches is not
// taken for one that works, and not listed over and over.
func TestWatchWithoutAnswer(t *testing.T) {
	t.Parallel()
	rig.InBubble(t, func(t *testing.T) {
		srv := apitest.Start(t)
		lift := srv.Inject(apitest.Fault{Verb: "watch", Way: apitest.Requests, Latency: time.Hour})
		config := srv.Config()
		config.Timeout = 100 * time.Millisecond
		pods := typed.NewInformer(kube.FromREST[*corev1.Pod](config, kube.WithoutWatchList()))
		ctx := rig.Start(t, pods)
		require.NoError(t, pods.WaitForSync(ctx))
		for pods.Status().Failures < 3 {
			time.Sleep(100 * time.Millisecond)
		}
		assert.ErrorContains(t, pods.Status().Err, "watch pods: the server has not answered")
		assert.Equal(t, 1, srv.Requests("list", "pods"))
		lift.Remove()
		require.NoError(t, srv.WaitForWatches(ctx, "pods", 1))
		synctest.Wait()
		assert.NoError(t, pods.Status().Err)
	})
}
