package proxy_test

import (
	"context"
	"net"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	utilnet "k8s.io/apimachinery/pkg/util/net"
	"k8s.io/client-go/kubernetes"
)

// brief returns a context for a request that gets no answer.
func (r *rig) brief() context.Context {
	ctx, cancel := context.WithTimeout(r.ctx, moment)
	r.Cleanup(cancel)
	return ctx
}

func TestFrozenConnectionsAreSilentAndNewOnesWork(t *testing.T) {
	r := newRig(t)
	old := r.client()
	w := r.watchPods(old)
	r.waitFor(func() bool { return r.proxy.Watches("pods") == 1 })

	assert.Equal(t, 1, r.proxy.FreezeConnections())
	assert.Zero(t, r.proxy.FreezeConnections(), "it is frozen")

	r.create("a")
	_, err := listPods(r.brief(), old)
	assert.ErrorIs(t, err, context.DeadlineExceeded)
	assert.Zero(t, r.proxy.Requests("list", ""), "it has not come through")
	fresh := r.ownClient()
	n, err := listPods(r.ctx, fresh)
	require.NoError(t, err)
	assert.Equal(t, 1, n)
	freshWatch := r.watchPods(fresh)
	r.create("b")
	assert.Equal(t, "b", r.name(freshWatch))
	r.nothing(w)
	assert.Equal(t, 2, r.proxy.Connections())
	assert.Equal(t, 2, r.server.Watches("pods"), "the API server knows of nothing")
}

// client-go gives up a silent connection when HTTP/2's ping has no answer, and
// tries again on a new one.
func TestClientLeavesFrozenConnection(t *testing.T) {
	t.Setenv("HTTP2_READ_IDLE_TIMEOUT_SECONDS", "1")
	t.Setenv("HTTP2_PING_TIMEOUT_SECONDS", "1")
	r := newRig(t)
	client := r.client()
	w := r.watchPods(client)
	r.waitFor(func() bool { return r.proxy.Watches("pods") == 1 })
	r.proxy.FreezeConnections()

	_, err := listPods(r.ctx, client)
	assert.NoError(t, err)
	for range w.ResultChan() {
		// It ends.
	}
	assert.Equal(t, 1, r.proxy.Requests("list", "pods"))
	assert.Equal(t, 2, r.proxy.Connections(), "the silent one has not heard of it")
}

func TestBlackhole(t *testing.T) {
	r := newRig(t)
	old := r.client()
	w := r.watchPods(old)
	r.waitFor(func() bool { return r.proxy.Watches("pods") == 1 })

	resume := r.proxy.Blackhole()
	again := r.proxy.Blackhole()
	r.create("a")
	_, err := listPods(r.brief(), old)
	assert.ErrorIs(t, err, context.DeadlineExceeded)
	_, err = listPods(r.brief(), r.ownClient())
	assert.ErrorIs(t, err, context.DeadlineExceeded, "a new connection")
	resume()
	resume()
	r.nothing(w)

	again()
	assert.Equal(t, "a", r.name(w), "nothing is lost")
	for _, client := range []kubernetes.Interface{old, r.ownClient()} {
		_, err = listPods(r.ctx, client)
		assert.NoError(t, err)
	}
}

func TestFrozenConnectionsOutliveABlackhole(t *testing.T) {
	r := newRig(t)
	w := r.watchPods(r.client())
	r.waitFor(func() bool { return r.proxy.Watches("pods") == 1 })
	resume := r.proxy.Blackhole()
	r.proxy.FreezeConnections()
	resume()
	r.create("a")
	r.nothing(w)
}

func TestResetConnections(t *testing.T) {
	r := newRig(t)
	client := r.client()
	w := r.watchPods(client)
	r.waitFor(func() bool { return r.proxy.Watches("pods") == 1 })
	listing := make(chan error, 1)
	defer r.proxy.HoldRequests("list", "")()
	go func() {
		// Not List, which tries again.
		listing <- client.CoreV1().RESTClient().Get().MaxRetries(0).Resource("pods").Do(r.ctx).Error()
	}()
	r.waitFor(func() bool { return r.proxy.Requests("list", "") == 1 })

	assert.Equal(t, 1, r.proxy.ResetConnections())

	err := <-listing
	assert.True(t, utilnet.IsConnectionReset(err), "%v", err)
	for range w.ResultChan() {
		// client-go takes a reset for the end of the watch.
	}
	r.waitFor(func() bool { return r.proxy.Connections() == 0 && r.proxy.Watches("") == 0 })
	w = r.watchPods(client)
	r.create("a")
	assert.Equal(t, "a", r.name(w))
}

func TestResetFrozenConnections(t *testing.T) {
	r := newRig(t)
	w := r.watchPods(r.client())
	r.waitFor(func() bool { return r.proxy.Watches("pods") == 1 })
	r.proxy.FreezeConnections()
	assert.Equal(t, 1, r.proxy.ResetConnections())
	for range w.ResultChan() {
		// It ends.
	}
	r.waitFor(func() bool { return r.proxy.Watches("") == 0 })
}

func TestRefuse(t *testing.T) {
	r := newRig(t)
	host := r.proxy.Config().Host
	w := r.watchPods(r.client())
	r.waitFor(func() bool { return r.proxy.Watches("pods") == 1 })

	accept, other := r.proxy.Refuse(), r.proxy.Refuse()
	_, err := listPods(r.ctx, r.ownClient())
	assert.True(t, utilnet.IsConnectionRefused(err), "%v", err)
	r.create("a")
	assert.Equal(t, "a", r.name(w), "open connections go on")
	require.NoError(t, other())
	require.NoError(t, other())
	_, err = listPods(r.ctx, r.ownClient())
	assert.True(t, utilnet.IsConnectionRefused(err), "%v", err)

	require.NoError(t, accept())
	n, err := listPods(r.ctx, r.ownClient())
	require.NoError(t, err)
	assert.Equal(t, 1, n)
	assert.Equal(t, host, r.proxy.Config().Host)
}

func TestAcceptReturnsTakenPort(t *testing.T) {
	r := newRig(t)
	accept := r.proxy.Refuse()
	thief, err := net.Listen("tcp", strings.TrimPrefix(r.proxy.Config().Host, "https://"))
	require.NoError(t, err)
	assert.ErrorContains(t, accept(), "address already in use")
	require.NoError(t, thief.Close())
	require.NoError(t, accept())
	_, err = r.client().CoreV1().Pods("").List(r.ctx, metav1.ListOptions{})
	assert.NoError(t, err)
}
