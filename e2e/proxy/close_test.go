package proxy_test

import (
	"math/rand/v2"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	utilnet "k8s.io/apimachinery/pkg/util/net"

	"github.com/kubetyped/informer/e2e/proxy"
)

// TestCloseEndsHeldRequests closes the proxy while a request and a watch are held up
// by each means there is.
func TestCloseEndsHeldRequests(t *testing.T) {
	for name, stop := range map[string]func(*proxy.Proxy){
		"Nothing":      func(*proxy.Proxy) {},
		"Delay":        func(p *proxy.Proxy) { p.Inject(proxy.Fault{Verb: "list", Delay: time.Hour}) },
		"Slow":         func(p *proxy.Proxy) { p.Inject(proxy.Fault{Verb: "list", BytesPerSecond: 1}) },
		"HoldWatches":  func(p *proxy.Proxy) { p.HoldWatches("") },
		"HoldRequests": func(p *proxy.Proxy) { p.HoldRequests("", "") },
		"Freeze":       func(p *proxy.Proxy) { p.FreezeConnections() },
		"Blackhole":    func(p *proxy.Proxy) { p.Blackhole() },
		"Refuse":       func(p *proxy.Proxy) { p.Refuse() },
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t)
			r.create("a")
			client := r.client()
			w := r.watchPods(client)
			r.waitFor(func() bool { return r.proxy.Watches("") == 1 })
			stop(r.proxy)
			r.create("b")
			listed := make(chan error, 1)
			go func() {
				listed <- client.CoreV1().RESTClient().Get().MaxRetries(0).Resource("pods").Do(r.ctx).Error()
			}()
			switch name {
			case "Freeze", "Blackhole":
				// The request does not come so far.
			default:
				r.waitFor(func() bool { return r.proxy.Requests("list", "") == 1 })
			}

			require.NoError(t, r.proxy.Close())
			require.NoError(t, r.proxy.Close(), "again")

			if name != "Nothing" && name != "HoldWatches" && name != "Refuse" {
				assert.Error(t, <-listed)
			}
			for range w.ResultChan() {
				// It ends.
			}
			assert.Zero(t, r.proxy.Connections())
			assert.Zero(t, r.proxy.Watches(""))
			_, err := net.Dial("tcp", strings.TrimPrefix(r.proxy.Config().Host, "https://"))
			assert.True(t, utilnet.IsConnectionRefused(err), "%v", err)
		})
	}
}

func TestMethodsAfterClose(t *testing.T) {
	r := newRig(t)
	require.NoError(t, r.proxy.Close())
	assert.Zero(t, r.proxy.CutWatches("", proxy.Abrupt))
	assert.Zero(t, r.proxy.FreezeConnections())
	assert.Zero(t, r.proxy.ResetConnections())
	accept := r.proxy.Refuse()
	assert.ErrorIs(t, accept(), net.ErrClosed)
	r.proxy.Blackhole()()
	r.proxy.HoldWatches("")()
	r.proxy.Inject(proxy.Fault{}).Remove()
	_, err := listPods(r.ctx, r.client())
	assert.Error(t, err)
}

// TestConcurrentUse does everything at once; afterwards all is well.
func TestConcurrentUse(t *testing.T) {
	r := newRig(t)
	client := r.client()
	var all sync.WaitGroup
	for seed := range uint64(4) {
		all.Go(func() {
			random := rand.New(rand.NewPCG(seed, 0))
			for range 25 {
				switch random.IntN(9) {
				case 0:
					r.proxy.CutWatches("", proxy.Ending(random.IntN(4)))
				case 1:
					r.proxy.HoldWatches("pods")()
				case 2:
					r.proxy.HoldRequests("", "")()
				case 3:
					in := r.proxy.Inject(proxy.Fault{Times: 2, Err: apierrors.NewTooManyRequests("", 0)})
					in.Remove()
				case 4:
					r.proxy.Blackhole()()
				case 5:
					r.proxy.ResetConnections()
				case 6:
					assert.NoError(t, r.proxy.Refuse()())
				default:
					// It may fail.
					w, err := client.CoreV1().Pods("").Watch(r.ctx, metav1.ListOptions{ResourceVersion: "1"})
					if err == nil {
						w.Stop()
					}
				}
			}
		})
	}
	all.Wait()
	r.proxy.ResetConnections()
	_, err := listPods(r.ctx, r.ownClient())
	assert.NoError(t, err)
}
