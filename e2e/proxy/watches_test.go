package proxy_test

import (
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/kubetyped/informer/e2e/proxy"
)

// eachClient runs a test for every way to speak with a server.
func eachClient(t *testing.T, test func(r *rig, client kubernetes.Interface)) {
	for _, contentType := range []string{"application/json", "application/vnd.kubernetes.protobuf"} {
		for _, protocol := range []string{"h2", "http/1.1"} {
			t.Run(contentType+" "+protocol, func(t *testing.T) {
				r := newRig(t)
				config := r.proxy.Config()
				config.ContentType = contentType
				config.AcceptContentTypes = contentType
				config.NextProtos = []string{protocol}
				test(r, r.clientOf(config))
			})
		}
	}
}

// assertEnd checks that a watch ends as it was cut.
func (r *rig) assertEnd(how proxy.Ending, w watch.Interface) {
	r.Helper()
	e, ok := r.next(w)
	if how == proxy.Clean {
		assert.False(r, ok, "%+v", e)
		return
	}
	// Of HTTP/1.1, client-go takes a closed connection for the end of a watch.
	if ok {
		require.Equal(r, watch.Error, e.Type, "%+v", e)
		assert.Contains(r, e.Object.(*metav1.Status).Message, "stream error")
		_, ok = r.next(w)
	}
	assert.False(r, ok)
}

func TestLargeEventsPassWhole(t *testing.T) {
	eachClient(t, func(r *rig, client kubernetes.Interface) {
		w := r.watchPods(client)
		for _, size := range []int{100_000, 10, 400_000} {
			large := pod(fmt.Sprint("p", size))
			large.Annotations = map[string]string{"large": strings.Repeat("x", size)}
			require.NoError(r, r.server.Create(r.ctx, large))
			e, ok := r.next(w)
			require.True(r, ok)
			require.IsType(r, large, e.Object)
			assert.Len(r, e.Object.(*corev1.Pod).Annotations["large"], size)
		}
	})
}

var endings = []proxy.Ending{proxy.Clean, proxy.Abrupt, proxy.Torn}

func TestCutWatches(t *testing.T) {
	eachClient(t, func(r *rig, client kubernetes.Interface) {
		other := r.watchConfigMaps(client)
		for _, how := range endings {
			r.Run(how.String(), func(t *testing.T) {
				r := r.in(t)
				before := r.proxy.Cuts("pods")
				w := r.watchPods(client)
				r.waitFor(func() bool { return r.proxy.Watches("") == 2 })
				r.create("a-" + how.String())
				require.Equal(t, "a-"+how.String(), r.name(w))

				assert.Zero(t, r.proxy.CutWatches("pods", proxy.Whole))
				assert.Equal(t, 1, r.proxy.CutWatches("pods", how))
				assert.Zero(t, r.proxy.CutWatches("pods", how), "it counts as closed")

				if how == proxy.Torn {
					r.create("b")
				}
				r.assertEnd(how, w)
				assert.Equal(t, before+1, r.proxy.Cuts("pods"))
				assert.Equal(t, before+1, r.proxy.Cuts(""))
				name := "c-" + how.String()
				require.NoError(t, r.server.Create(r.ctx, configMap(name)))
				assert.Equal(t, name, r.name(other), "another resource")
				require.NoError(t, r.server.WaitForWatches(r.ctx, "pods", 0), "the API server is told")
			})
		}
	})
}

// A watch that is cut as soon as it is open has been opened for the client too.
func TestOpenWatchIsKnownToItsClient(t *testing.T) {
	r := newRig(t)
	client := r.client()
	r.proxy.Inject(proxy.Fault{Verb: "watch", End: proxy.Abrupt})
	for range 20 {
		r.assertEnd(proxy.Abrupt, r.watchPods(client))
	}
	assert.Equal(t, 20, r.proxy.Cuts("pods"))
}

func TestTornWatchEndsInTheMiddleOfAnEvent(t *testing.T) {
	r := newRig(t)
	r.create("a", "b")
	const path = "/api/v1/pods?watch=1&resourceVersion=1"
	r.proxy.Inject(proxy.Fault{Verb: "watch", Times: 1, End: proxy.Clean, After: 2})
	_, whole, err := r.get(path)
	require.NoError(t, err)
	events := strings.SplitAfter(string(whole), "\n")
	require.Len(t, events, 3, "and nothing after the second")

	t.Run("Fault", func(t *testing.T) {
		r := r.in(t)
		r.proxy.Inject(proxy.Fault{Verb: "watch", Times: 1, End: proxy.Torn, After: 1})
		_, torn, err := r.get(path)
		assert.Error(t, err)
		assert.Equal(t, events[0]+events[1][:len(events[1])/2], string(torn))
	})
	t.Run("CutWatches", func(t *testing.T) {
		r := r.in(t)
		response := r.do("/api/v1/pods?watch=1&resourceVersion=" + r.server.ResourceVersion())
		defer response.Body.Close()
		r.waitFor(func() bool { return r.proxy.Watches("pods") == 1 })
		require.Equal(t, 1, r.proxy.CutWatches("pods", proxy.Torn))
		r.create("c")
		torn, err := io.ReadAll(response.Body)
		assert.Error(t, err)
		assert.Len(t, torn, len(events[1])/2, "half of an event as long as the other")
	})
}

func TestFaultCutsWatches(t *testing.T) {
	eachClient(t, func(r *rig, client kubernetes.Interface) {
		from := r.server.ResourceVersion()
		r.create("a", "b", "c")
		for _, end := range endings {
			r.Run(end.String(), func(t *testing.T) {
				r := r.in(t)
				before := r.proxy.Cuts("pods")
				fault := r.proxy.Inject(proxy.Fault{Verb: "watch", Resource: "pods", End: end, After: 2})
				defer fault.Remove()
				w := r.watching(client.CoreV1().Pods("").Watch(r.ctx, metav1.ListOptions{ResourceVersion: from}))
				assert.Equal(t, "a", r.name(w))
				assert.Equal(t, "b", r.name(w))
				r.assertEnd(end, w)
				assert.Equal(t, before+1, r.proxy.Cuts("pods"))
				assert.Equal(t, 1, fault.Count())
			})
		}
	})
}

func TestFaultDrawsFromItsSeed(t *testing.T) {
	lengths := func(seed uint64) (lengths []int) {
		r := newRig(t)
		client := r.client()
		r.proxy.Inject(proxy.Fault{Verb: "watch", End: proxy.Clean, After: 1, UpTo: 6, Seed: seed})
		for i := range 8 {
			r.create(fmt.Sprint("p", i))
		}
		for range 20 {
			w := r.watching(client.CoreV1().Pods("").Watch(r.ctx, metav1.ListOptions{ResourceVersion: "1"}))
			n := 0
			for range w.ResultChan() {
				n++
			}
			lengths = append(lengths, n)
		}
		return lengths
	}
	one := lengths(1)
	assert.Equal(t, one, lengths(1))
	assert.NotEqual(t, one, lengths(2))
	assert.Subset(t, []int{1, 2, 3, 4, 5, 6}, one)
	assert.Subset(t, one, []int{1, 6}, "both ends are drawn")
}

func TestHoldWatches(t *testing.T) {
	eachClient(t, func(r *rig, client kubernetes.Interface) {
		t := r.T
		w, other := r.watchPods(client), r.watchConfigMaps(client)
		r.create("a")
		require.Equal(t, "a", r.name(w))

		resume := r.proxy.HoldWatches("pods")
		again := r.proxy.HoldWatches("pods")
		later := r.watchPods(client)
		r.create("b")
		require.NoError(t, r.server.Create(r.ctx, configMap("c")))
		assert.Equal(t, "c", r.name(other), "another resource")
		_, err := listPods(r.ctx, client)
		assert.NoError(t, err, "another verb")
		resume()
		resume()
		r.nothing(w)
		r.nothing(later)
		assert.Equal(t, 2, r.proxy.Watches("pods"))

		again()
		assert.Equal(t, "b", r.name(w))
		assert.Equal(t, "b", r.name(later))
		r.create("d")
		assert.Equal(t, "d", r.name(w))
	})
}

func TestHeldWatchesCanBeCut(t *testing.T) {
	r := newRig(t)
	for _, how := range endings {
		t.Run(how.String(), func(t *testing.T) {
			r := r.in(t)
			resume := r.proxy.HoldWatches("")
			defer resume()
			w := r.watchPods(r.client())
			r.waitFor(func() bool { return r.proxy.Watches("") == 1 })
			r.create(how.String())
			assert.Equal(t, 1, r.proxy.CutWatches("", how))
			r.assertEnd(how, w)
		})
	}
}

func TestHoldRequests(t *testing.T) {
	r := newRig(t)
	client := r.client()
	resume := r.proxy.HoldRequests("create", "pods")
	created := make(chan error, 1)
	go func() {
		_, err := client.CoreV1().Pods("default").Create(r.ctx, pod("a"), metav1.CreateOptions{})
		created <- err
	}()
	r.waitFor(func() bool { return r.proxy.Requests("create", "pods") == 1 })
	n, err := listPods(r.ctx, client)
	require.NoError(t, err, "another verb")
	assert.Zero(t, n)
	select {
	case err := <-created:
		assert.Fail(t, "it was not held", "%v", err)
	default:
	}
	assert.Zero(t, r.server.Requests("create", "pods"))
	resume()
	assert.NoError(t, <-created)
}

// TestEventsOfALaggingWatch: each event comes so much later, and does not wait for those before.
func TestEventsOfALaggingWatch(t *testing.T) {
	const lag, events = 100 * time.Millisecond, 20
	r := newRig(t)
	late, err := proxy.Start(r.server.Config(), proxy.WithWatchLag(lag))
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, late.Close()) })
	w := r.watchPods(r.clientOf(late.Config()))
	begin := time.Now()
	for i := range events {
		require.NoError(t, r.server.Create(r.ctx, pod(fmt.Sprint("p", i))))
	}
	for i := range events {
		assert.Equal(t, fmt.Sprint("p", i), r.name(w))
		if i == 0 {
			assert.GreaterOrEqual(t, time.Since(begin), lag)
		}
	}
	assert.Less(t, time.Since(begin), events*lag)
}

func TestANegativeLagIsAnError(t *testing.T) {
	_, err := proxy.Start(&rest.Config{Host: "localhost"}, proxy.WithWatchLag(-1))
	require.ErrorContains(t, err, "the lag is negative")
}
