package kube_test

import (
	"context"
	"net"
	"net/http"
	"net/url"
	"os"
	"strconv"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/kubetyped/informer/internal/test/rig"
	"github.com/kubetyped/informer/typed"
	"github.com/kubetyped/informer/typed/kube"
)

// brittle is a ListerWatcher of one Pod whose requests fail as long as a test
// wants them to. It cannot stream lists.
type brittle struct {
	mu             sync.Mutex
	err            error // guarded by mu; what requests fail with
	lists, watches int   // guarded by mu; requests that succeeded
	tries          int   // guarded by mu; all requests
	asked          []string
	open           *watch.FakeWatcher
	opened         chan struct{} // gets one for each watch
}

func newBrittle() *brittle { return &brittle{opened: make(chan struct{}, 1000)} }

func (b *brittle) IsWatchListSemanticsUnSupported() bool { return true }

func (b *brittle) List(metav1.ListOptions) (runtime.Object, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.tries++
	if b.err != nil {
		return nil, b.err
	}
	b.lists++
	return &corev1.PodList{
		ListMeta: metav1.ListMeta{ResourceVersion: "100"},
		Items:    []corev1.Pod{{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "a", ResourceVersion: "7"}}},
	}, nil
}

func (b *brittle) Watch(opts metav1.ListOptions) (watch.Interface, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.tries++
	if b.err != nil {
		return nil, b.err
	}
	b.watches++
	b.asked = append(b.asked, opts.ResourceVersion)
	b.open = watch.NewFake()
	b.opened <- struct{}{}
	return b.open, nil
}

// fail makes requests fail from now on, or succeed if err is nil.
func (b *brittle) fail(err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.err, b.tries = err, 0
}

// cut ends the open watch.
func (b *brittle) cut() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.open.Stop()
}

// counts returns the requests that succeeded, and all since the last fail.
func (b *brittle) counts() (lists, watches, tries int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.lists, b.watches, b.tries
}

// untilWatched waits for the next watch, and returns how long that took.
func (b *brittle) untilWatched(t *testing.T) time.Duration {
	t.Helper()
	begin := time.Now()
	select {
	case <-b.opened:
	case <-time.After(time.Hour):
		require.Fail(t, "no watch any more")
	}
	synctest.Wait()
	return time.Since(begin)
}

// inform runs an informer on b until the test ends.
func (b *brittle) inform(t *testing.T) *typed.Informer[*corev1.Pod] {
	t.Helper()
	informer := typed.NewInformer(kube.FromListerWatcher[*corev1.Pod](b))
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error)
	go func() { ended <- informer.Run(ctx) }()
	t.Cleanup(func() {
		begin := time.Now()
		cancel()
		assert.NoError(t, <-ended)
		assert.Zero(t, time.Since(begin), "a stop waits for no retry")
	})
	return informer
}

var errRefused = &net.OpError{Op: "dial", Net: "tcp", Err: os.NewSyscallError("connect", syscall.ECONNREFUSED)}

func TestBackAfterServerWasAway(t *testing.T) {
	const rounds = 30
	for _, away := range []time.Duration{time.Second, 30 * time.Second, 2 * time.Minute} {
		t.Run(away.String(), func(t *testing.T) {
			rig.InBubble(t, func(t *testing.T) {
				server := newBrittle()
				pods := server.inform(t)
				server.untilWatched(t)
				var late time.Duration
				for round := range rounds {
					version := strconv.Itoa(101 + round)
					server.open.Modify(&corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "a", ResourceVersion: version}})
					synctest.Wait()

					server.fail(errRefused)
					server.cut()
					time.Sleep(away)
					status := pods.Status()
					assert.ErrorIs(t, status.Err, syscall.ECONNREFUSED)
					_, _, tries := server.counts()
					assert.Equal(t, tries, status.Failures, "every attempt is reported")
					assert.Less(t, tries, 150, "the server is spared")

					server.fail(nil)
					late += server.untilWatched(t)
					assert.Equal(t, version, server.asked[round+1])
					assert.NoError(t, pods.Status().Err)
				}
				assert.Less(t, late/rounds, away/6, "it is back soon, beside the time that the server was away")
				lists, _, _ := server.counts()
				assert.Equal(t, 1, lists, "it goes on without a list")
			})
		})
	}
}

// TestBackAfterProxyWasAway: behind a proxy that is away, the server cannot be reached either.
func TestBackAfterProxyWasAway(t *testing.T) {
	unreachable := &net.OpError{Op: "dial", Net: "tcp", Err: os.NewSyscallError("connect", syscall.EHOSTUNREACH)}
	dial := func(context.Context, string, string) (net.Conn, error) { return nil, unreachable }
	for _, proxy := range []string{"http://proxy.example.com:3128", "socks5://proxy.example.com:1080"} {
		t.Run(proxy, func(t *testing.T) {
			address, err := url.Parse(proxy)
			require.NoError(t, err)
			behind := http.Client{Transport: &http.Transport{Proxy: http.ProxyURL(address), DialContext: dial}}
			_, away := behind.Get("https://example.com") //nolint:bodyclose // it fails
			require.Error(t, away)
			rig.InBubble(t, func(t *testing.T) {
				server := newBrittle()
				pods := server.inform(t)
				server.untilWatched(t)
				time.Sleep(time.Minute) // all goes well
				server.fail(away)
				server.cut()
				time.Sleep(time.Minute)
				assert.ErrorIs(t, pods.Status().Err, away)
				server.fail(nil)
				assert.Less(t, server.untilWatched(t), 20*time.Second)
				lists, _, _ := server.counts()
				assert.Equal(t, 1, lists, "it goes on without a list")
			})
		})
	}
}

// streaming is a brittle that can stream lists.
type streaming struct{ *brittle }

func (streaming) IsWatchListSemanticsUnSupported() bool { return false }

// TestStopWhileStreamedListsFail: a stop waits for no retry of a streamed list, either,
// and makes no more requests.
func TestStopWhileStreamedListsFail(t *testing.T) {
	for name, failure := range map[string]error{
		"refused":           errRefused,
		"too many requests": apierrors.NewTooManyRequests("busy", 0),
		"internal error":    apierrors.NewInternalError(os.ErrInvalid),
	} {
		t.Run(name, func(t *testing.T) {
			rig.InBubble(t, func(t *testing.T) {
				server := newBrittle()
				server.fail(failure)
				informer := typed.NewInformer(kube.FromListerWatcher[*corev1.Pod](streaming{server}))
				ctx, cancel := context.WithCancel(t.Context())
				ended := make(chan error)
				go func() { ended <- informer.Run(ctx) }()
				time.Sleep(time.Minute)
				_, _, before := server.counts()
				require.NotZero(t, before)
				begin := time.Now()
				cancel()
				assert.NoError(t, <-ended)
				assert.Zero(t, time.Since(begin))
				_, _, after := server.counts()
				assert.Equal(t, before, after)
			})
		})
	}
}

func TestRelistSoonAfterExpiry(t *testing.T) {
	rig.InBubble(t, func(t *testing.T) {
		server := newBrittle()
		server.inform(t)
		server.untilWatched(t)
		for round := range 5 {
			time.Sleep(time.Minute) // all goes well
			expired := apierrors.NewResourceExpired("too old resource version").ErrStatus
			server.open.Error(&expired)
			assert.LessOrEqual(t, server.untilWatched(t), 800*time.Millisecond)
			lists, _, _ := server.counts()
			assert.Equal(t, round+2, lists)
		}
	})
}

func TestSparesServerThatFails(t *testing.T) {
	for name, failure := range map[string]error{
		"too many requests": apierrors.NewTooManyRequests("busy", 0),
		"internal error":    apierrors.NewInternalError(os.ErrInvalid),
		"forbidden":         apierrors.NewForbidden(corev1.Resource("pods"), "", os.ErrPermission),
	} {
		t.Run(name, func(t *testing.T) {
			rig.InBubble(t, func(t *testing.T) {
				server := newBrittle()
				pods := server.inform(t)
				server.untilWatched(t)
				server.fail(failure)
				server.cut()
				time.Sleep(10 * time.Minute)
				_, _, tries := server.counts()
				assert.Less(t, tries, 100, "at most 30 s apart, half of that on average")
				assert.Greater(t, tries, 20)
				assert.ErrorIs(t, pods.Status().Err, failure)
				server.fail(nil)
				assert.LessOrEqual(t, server.untilWatched(t), 30*time.Second)
				assert.NoError(t, pods.Status().Err)
			})
		})
	}
}

// TestExpiryAgainAndAgain: a server on which every list works and every watch
// fails must not be listed without end.
func TestExpiryAgainAndAgain(t *testing.T) {
	rig.InBubble(t, func(t *testing.T) {
		server := newBrittle()
		server.inform(t)
		begin := time.Now()
		for time.Since(begin) < 10*time.Minute {
			server.untilWatched(t)
			expired := apierrors.NewResourceExpired("too old resource version").ErrStatus
			server.open.Error(&expired)
		}
		lists, _, _ := server.counts()
		assert.Less(t, lists, 100)
	})
}
