package election_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/kubetyped/informer/apitest"
	"github.com/kubetyped/informer/internal/test/rig"
	"github.com/kubetyped/informer/typed/control"
	"github.com/kubetyped/informer/typed/kube/election"
)

var _ control.Elector = (*election.Elector)(nil)

func newElector(t *testing.T, config *rest.Config, identity string) *election.Elector {
	e, err := election.NewElector(config, "default", "controller", election.WithIdentity(identity), election.WithLeaseDuration(3*time.Second))
	require.NoError(t, err)
	assert.Equal(t, identity, e.Identity())
	return e
}

// TestElectorOneLeads: one process works at a time, and the next one begins when the
// first has ended.
func TestElectorOneLeads(t *testing.T) {
	rig.InBubble(t, func(t *testing.T) {
		srv := apitest.Start(t)
		var working atomic.Int32
		ended := make(chan error, 3)
		for _, identity := range []string{"a", "b", "c"} {
			e := newElector(t, srv.Config(), identity)
			go func() {
				ended <- e.Elect(t.Context(), func(ctx context.Context) {
					assert.EqualValues(t, 1, working.Add(1))
					assert.NoError(t, ctx.Err())
					working.Add(-1)
				})
			}()
		}
		for range 3 {
			require.NoError(t, <-ended)
		}
		client, err := kubernetes.NewForConfig(srv.Config())
		require.NoError(t, err)
		lease, err := client.CoordinationV1().Leases("default").Get(t.Context(), "controller", metav1.GetOptions{})
		require.NoError(t, err)
		assert.Empty(t, *lease.Spec.HolderIdentity)
	})
}

// TestElectorWaits: a process that waits for the lead ends with its context.
func TestElectorWaits(t *testing.T) {
	rig.InBubble(t, func(t *testing.T) {
		srv := apitest.Start(t)
		first, second := newElector(t, srv.Config(), "a"), newElector(t, srv.Config(), "b")
		err := first.Elect(t.Context(), func(context.Context) {
			ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
			defer cancel()
			err := second.Elect(ctx, func(context.Context) { assert.Fail(t, "the second process leads beside the first") })
			assert.ErrorIs(t, err, context.DeadlineExceeded)
		})
		require.NoError(t, err)
	})
}

// TestElectorFinishesItsWork: work that continues after its context has ended keeps the lead, for longer
// than a lease lasts, and gives it up when it returns.
func TestElectorFinishesItsWork(t *testing.T) {
	rig.InBubble(t, func(t *testing.T) {
		srv := apitest.Start(t)
		client, err := kubernetes.NewForConfig(srv.Config())
		require.NoError(t, err)
		holder := func() string {
			lease, err := client.CoordinationV1().Leases("default").Get(t.Context(), "controller", metav1.GetOptions{})
			require.NoError(t, err)
			return *lease.Spec.HolderIdentity
		}
		errStop := errors.New("stop")
		ctx, cancel := context.WithCancelCause(t.Context())
		var works atomic.Bool
		second := make(chan error, 1)
		err = newElector(t, srv.Config(), "a").Elect(ctx, func(working context.Context) {
			works.Store(true)
			go func() {
				second <- newElector(t, srv.Config(), "b").Elect(t.Context(), func(context.Context) { assert.False(t, works.Load()) })
			}()
			cancel(errStop)
			<-working.Done()
			assert.Equal(t, errStop, context.Cause(working))
			time.Sleep(10 * time.Second)
			assert.Equal(t, "a", holder())
			works.Store(false)
		})
		require.NoError(t, err)
		require.NoError(t, <-second)
		assert.Empty(t, holder())

		ended := newElector(t, srv.Config(), "c").Elect(ctx, func(context.Context) { assert.Fail(t, "the context has ended before") })
		assert.ErrorIs(t, ended, context.Canceled)
		assert.Empty(t, holder())
	})
}

// TestElectorIsStoppedWhileItWins: when the context ends while the lead is won, no work begins, and the
// lead is given up, unless it is that of another process.
func TestElectorIsStoppedWhileItWins(t *testing.T) {
	for name, test := range map[string]struct {
		first  string // the process that wins the lead just before this one
		lost   error  // replaces the answer
		holder string
	}{
		"the answer comes":         {},
		"the answer is lost":       {lost: errors.New("the connection breaks")},
		"another process is first": {first: "b", holder: "b"},
	} {
		t.Run(name, func(t *testing.T) {
			rig.InBubble(t, func(t *testing.T) {
				srv := apitest.Start(t)
				client, err := kubernetes.NewForConfig(srv.Config())
				require.NoError(t, err)
				leases := client.CoordinationV1().Leases("default")
				ctx, cancel := context.WithCancel(t.Context())
				config := srv.Config()
				config.Wrap(func(next http.RoundTripper) http.RoundTripper {
					return roundTripper(func(r *http.Request) (*http.Response, error) {
						if r.Method != http.MethodPost {
							return next.RoundTrip(r)
						}
						if test.first != "" {
							_, err := leases.Create(t.Context(), &coordinationv1.Lease{
								ObjectMeta: metav1.ObjectMeta{Name: "controller"},
								Spec:       coordinationv1.LeaseSpec{HolderIdentity: &test.first},
							}, metav1.CreateOptions{})
							assert.NoError(t, err)
						}
						response, err := next.RoundTrip(r)
						cancel()
						time.Sleep(time.Millisecond) // until all have seen it
						if err == nil && test.lost != nil {
							return nil, errors.Join(test.lost, response.Body.Close())
						}
						return response, err
					})
				})
				err = newElector(t, config, "a").Elect(ctx, func(context.Context) { assert.Fail(t, "the context has ended before") })
				require.ErrorIs(t, err, context.Canceled)
				lease, err := leases.Get(t.Context(), "controller", metav1.GetOptions{})
				require.NoError(t, err)
				assert.Equal(t, test.holder, *lease.Spec.HolderIdentity)
			})
		})
	}
}

// TestElectorLosesTheLead: when the Lease cannot be renewed, the context of the work ends, and the
// Lease is not released before the work has ended.
func TestElectorLosesTheLead(t *testing.T) {
	rig.InBubble(t, func(t *testing.T) {
		srv := apitest.Start(t)
		var refused atomic.Bool
		config := srv.Config()
		config.Wrap(func(next http.RoundTripper) http.RoundTripper {
			return roundTripper(func(r *http.Request) (*http.Response, error) {
				if r.Body == nil || !refused.Load() {
					return next.RoundTrip(r)
				}
				body, err := io.ReadAll(r.Body)
				if err != nil || bytes.Contains(body, []byte("process-a")) {
					return nil, errors.Join(err, errors.New("there is no way to the server"))
				}
				r.Body = io.NopCloser(bytes.NewReader(body))
				return next.RoundTrip(r)
			})
		})
		client, err := kubernetes.NewForConfig(srv.Config())
		require.NoError(t, err)
		err = newElector(t, config, "process-a").Elect(t.Context(), func(ctx context.Context) {
			refused.Store(true)
			<-ctx.Done()
			assert.ErrorContains(t, context.Cause(ctx), "the lease default/controller is not renewed for 2s")
			assert.ErrorContains(t, context.Cause(ctx), "there is no way to the server")
			lease, err := client.CoordinationV1().Leases("default").Get(t.Context(), "controller", metav1.GetOptions{})
			if assert.NoError(t, err) {
				assert.Equal(t, "process-a", *lease.Spec.HolderIdentity)
			}
		})
		require.NoError(t, err)
		lease, err := client.CoordinationV1().Leases("default").Get(t.Context(), "controller", metav1.GetOptions{})
		require.NoError(t, err)
		assert.Empty(t, *lease.Spec.HolderIdentity, "it is given up when the work has ended")
	})
}

// TestElectorNamesTheNextLeader: the cause of a lost lead names the process that leads now.
func TestElectorNamesTheNextLeader(t *testing.T) {
	rig.InBubble(t, func(t *testing.T) {
		srv := apitest.Start(t)
		client, err := kubernetes.NewForConfig(srv.Config())
		require.NoError(t, err)
		err = newElector(t, srv.Config(), "a").Elect(t.Context(), func(ctx context.Context) {
			leases := client.CoordinationV1().Leases("default")
			lease, err := leases.Get(t.Context(), "controller", metav1.GetOptions{})
			if !assert.NoError(t, err) {
				return
			}
			*lease.Spec.HolderIdentity, *lease.Spec.LeaseDurationSeconds = "b", 60
			_, err = leases.Update(t.Context(), lease, metav1.UpdateOptions{})
			assert.NoError(t, err)
			<-ctx.Done()
			assert.ErrorContains(t, context.Cause(ctx), `process "b" holds it`)
		})
		require.NoError(t, err)
	})
}

// TestElectorCannotGiveUp: if the lead cannot be given up, that is logged.
func TestElectorCannotGiveUp(t *testing.T) {
	rig.InBubble(t, func(t *testing.T) {
		srv := apitest.Start(t)
		var refused atomic.Bool
		config := srv.Config()
		config.Wrap(func(next http.RoundTripper) http.RoundTripper {
			return roundTripper(func(r *http.Request) (*http.Response, error) {
				if refused.Load() {
					return nil, errors.New("there is no network")
				}
				return next.RoundTrip(r)
			})
		})
		ctx, lines := rig.Lines()
		err := newElector(t, config, "a").Elect(ctx, func(ctx context.Context) {
			refused.Store(true)
			<-ctx.Done()
		})
		require.NoError(t, err)
		assert.Contains(t, strings.Join(lines(), "\n"), "The lead is not given up")
	})
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

func TestElectorInput(t *testing.T) {
	config := &rest.Config{Host: "127.0.0.1:1"}
	for message, make := range map[string]func() (*election.Elector, error){
		"client configuration is nil":                                               func() (*election.Elector, error) { return election.NewElector(nil, "ns", "name") },
		"needs a namespace and a name":                                              func() (*election.Elector, error) { return election.NewElector(config, "", "name") },
		`"n/s" cannot be the name of a namespace`:                                   func() (*election.Elector, error) { return election.NewElector(config, "n/s", "name") },
		`"n.s" cannot be the name of a namespace`:                                   func() (*election.Elector, error) { return election.NewElector(config, "n.s", "name") },
		`"na/me" cannot be the name of a lease`:                                     func() (*election.Elector, error) { return election.NewElector(config, "ns", "na/me") },
		`"Name" cannot be the name of a lease: a lowercase RFC 1123 subdomain must`: func() (*election.Elector, error) { return election.NewElector(config, "ns", "Name") },
		"option is nil": func() (*election.Elector, error) { return election.NewElector(config, "ns", "name", nil) },
		"the identity is empty": func() (*election.Elector, error) {
			return election.NewElector(config, "ns", "name", election.WithIdentity(""))
		},
		"is less than three seconds": func() (*election.Elector, error) {
			return election.NewElector(config, "ns", "name", election.WithLeaseDuration(3*time.Second-1))
		},
		"elector by the lease ns/name": func() (*election.Elector, error) { return election.NewElector(&rest.Config{Host: "::"}, "ns", "name") },
	} {
		_, err := make()
		assert.ErrorContains(t, err, message)
	}
	_, err := election.NewElector(config, "ns", "example.com")
	require.NoError(t, err)
	e, err := election.NewElector(config, "ns", "name")
	require.NoError(t, err)
	assert.NotEmpty(t, e.Identity())
}
