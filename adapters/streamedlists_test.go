package adapters_test

import (
	"context"
	"io"
	"net"
	"net/http"
	"strings"
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
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	clientgofake "k8s.io/client-go/kubernetes/fake"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/rest"
	clienttesting "k8s.io/client-go/testing"
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"
	"k8s.io/klog/v2/ktesting"

	"github.com/kubetyped/informer/adapters"
	"github.com/kubetyped/informer/adapters/dynamicinformer"
	"github.com/kubetyped/informer/adapters/informers"
	"github.com/kubetyped/informer/adapters/metadatainformer"
	"github.com/kubetyped/informer/apitest"
	"github.com/kubetyped/informer/typed"
	"github.com/kubetyped/informer/typed/kube"
	"github.com/kubetyped/informer/typed/source"
)

// dropIns make informers of Pods in all the ways in which client-go does the requests.
var dropIns = map[string]func(t *testing.T, config *rest.Config) cache.SharedIndexInformer{
	"informers": func(t *testing.T, config *rest.Config) cache.SharedIndexInformer {
		return informers.NewSharedInformerFactory(clientsetOf(t, config), 0).Core().V1().Pods().Informer()
	},
	"informers that share parts": func(t *testing.T, config *rest.Config) cache.SharedIndexInformer {
		return informers.NewSharedInformerFactoryWithOptions(clientsetOf(t, config), 0, informers.WithDeduplication()).Core().V1().Pods().Informer()
	},
	"dynamicinformer": func(t *testing.T, config *rest.Config) cache.SharedIndexInformer {
		client, err := dynamic.NewForConfig(config)
		require.NoError(t, err)
		return dynamicinformer.NewDynamicSharedInformerFactory(client, 0).ForResource(podResource).Informer()
	},
	"metadatainformer": func(t *testing.T, config *rest.Config) cache.SharedIndexInformer {
		client, err := metadata.NewForConfig(config)
		require.NoError(t, err)
		return metadatainformer.NewSharedInformerFactory(client, 0).ForResource(podResource).Informer()
	},
	"dynamicinformer that shares parts": func(t *testing.T, config *rest.Config) cache.SharedIndexInformer {
		config.Wrap(kube.DecodingTransport)
		client, err := dynamic.NewForConfig(config)
		require.NoError(t, err)
		return dynamicinformer.NewDynamicSharedInformerFactoryWithOptions(client, 0, dynamicinformer.WithDeduplication()).ForResource(podResource).Informer()
	},
	"metadatainformer that shares parts": func(t *testing.T, config *rest.Config) cache.SharedIndexInformer {
		config.Wrap(kube.DecodingTransport)
		client, err := metadata.NewForConfig(config)
		require.NoError(t, err)
		return metadatainformer.NewSharedInformerFactoryWithOptions(client, 0, metadatainformer.WithDeduplication()).ForResource(podResource).Informer()
	},
	"NewSharedIndexInformer": func(t *testing.T, config *rest.Config) cache.SharedIndexInformer {
		lw := cache.NewListWatchFromClient(clientsetOf(t, config).CoreV1().RESTClient(), "pods", metav1.NamespaceAll, fields.Everything())
		return adapters.NewSharedIndexInformer(lw, &corev1.Pod{}, 0, cache.Indexers{})
	},
	"FromListerWatcher": func(t *testing.T, config *rest.Config) cache.SharedIndexInformer {
		lw := cache.NewListWatchFromClient(clientsetOf(t, config).CoreV1().RESTClient(), "pods", metav1.NamespaceAll, fields.Everything())
		return adapters.SharedIndexInformer(typed.NewInformer(kube.FromListerWatcher[*corev1.Pod](lw)))
	},
	"FromClient": func(t *testing.T, config *rest.Config) cache.SharedIndexInformer {
		return adapters.SharedIndexInformer(typed.NewInformer(kube.FromClient(clientsetOf(t, config).CoreV1().Pods(metav1.NamespaceAll))))
	},
}

var podResource = corev1.SchemeGroupVersion.WithResource("pods")

func clientsetOf(t *testing.T, config *rest.Config) kubernetes.Interface {
	t.Helper()
	clientset, err := kubernetes.NewForConfig(config)
	require.NoError(t, err)
	return clientset
}

// roundTripper is a function as a transport.
type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// without returns a request with parameters left out.
func without(r *http.Request, parameters ...string) *http.Request {
	own := r.Clone(r.Context())
	query := own.URL.Query()
	for _, p := range parameters {
		query.Del(p)
	}
	own.URL.RawQuery = query.Encode()
	return own
}

// answerOf is an answer in JSON that begins at once.
func answerOf(code int, body io.Reader) *http.Response {
	return &http.Response{
		StatusCode: code, Status: http.StatusText(code), Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: http.Header{"Content-Type": {"application/json"}}, Body: io.NopCloser(body),
	}
}

// later is a reader that ends after a while, or with the request.
type later struct {
	context.Context
	time.Duration
}

func (l later) Read([]byte) (int, error) {
	select {
	case <-time.After(l.Duration):
		return 0, io.EOF
	case <-l.Done():
		return 0, l.Err()
	}
}

// badStream is what becomes of requests for streamed lists.
type badStream struct {
	answer func(base http.RoundTripper, r *http.Request) (*http.Response, error)
	within time.Duration // the objects are there
	asks   int           // times that a list is asked to be streamed, however often it is listed
}

const unheardOf = "the server has never heard of it"

var badStreams = map[string]badStream{
	unheardOf: {func(base http.RoundTripper, r *http.Request) (*http.Response, error) {
		return base.RoundTrip(without(r, "sendInitialEvents", "resourceVersionMatch"))
	}, 30 * time.Second, 1},
	"without bookmarks": {func(base http.RoundTripper, r *http.Request) (*http.Response, error) {
		return base.RoundTrip(without(r, "allowWatchBookmarks"))
	}, 30 * time.Second, 1},
	"nothing comes": {func(_ http.RoundTripper, r *http.Request) (*http.Response, error) {
		return answerOf(http.StatusOK, later{r.Context(), time.Hour}), nil
	}, 30 * time.Second, 1},
	"it ends early": {func(_ http.RoundTripper, r *http.Request) (*http.Response, error) {
		return answerOf(http.StatusOK, later{r.Context(), 2 * time.Second}), nil
	}, 30 * time.Second, -1},
	"it ends early after a while": {func(_ http.RoundTripper, r *http.Request) (*http.Response, error) {
		return answerOf(http.StatusOK, later{r.Context(), 20 * time.Second}), nil
	}, 45 * time.Second, -1},
	"no headers come": {func(_ http.RoundTripper, r *http.Request) (*http.Response, error) {
		<-r.Context().Done()
		return nil, r.Context().Err()
	}, time.Minute, 1},
	"the server has no time for an hour": {func(_ http.RoundTripper, r *http.Request) (*http.Response, error) {
		response := answerOf(http.StatusTooManyRequests, strings.NewReader("later"))
		response.Header.Set("Retry-After", "3600")
		return response, nil
	}, time.Minute, -1},
	"the server has no more time": {func(_ http.RoundTripper, r *http.Request) (*http.Response, error) {
		refusal := `{"type":"ERROR","object":{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"TooManyRequests","code":429,"details":{"retryAfterSeconds":3600}}}`
		return answerOf(http.StatusOK, io.MultiReader(strings.NewReader(refusal+"\n"), later{r.Context(), time.Hour})), nil
	}, 31 * time.Second, -1},
}

// badly returns a configuration of a server that streams lists of a resource badly.
func badly(srv *apitest.Server, resource string, bad badStream) (config *rest.Config, asks func() int) {
	var mu sync.Mutex
	asked := 0 // guarded by mu
	config = srv.Config()
	config.Wrap(func(base http.RoundTripper) http.RoundTripper {
		return roundTripper(func(r *http.Request) (*http.Response, error) {
			if !r.URL.Query().Has("sendInitialEvents") || !strings.HasSuffix(r.URL.Path, "/"+resource) {
				return base.RoundTrip(r)
			}
			mu.Lock()
			asked++
			mu.Unlock()
			return bad.answer(base, r)
		})
	})
	return config, func() int {
		mu.Lock()
		defer mu.Unlock()
		return asked
	}
}

// TestStreamedListsEnd: whatever becomes of a streamed list, an informer has its objects
// within the deadline, says so once, counts it, and follows what happens then. When it has
// stopped, there is no goroutine left.
func TestStreamedListsEnd(t *testing.T) {
	for fault, bad := range badStreams {
		for form, newInformer := range dropIns {
			t.Run(fault+"/"+form, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					var options []apitest.Option
					if fault == unheardOf { // others end lists that are streamed without a word
						options = append(options, apitest.WithoutWatchList())
					}
					srv := apitest.Start(t, options...)
					require.NoError(t, srv.Create(t.Context(), pod("a", "")))
					config, asks := badly(srv, "pods", bad)
					informer := newInformer(t, config)
					logger := ktesting.NewLogger(ktesting.NopTL{}, ktesting.NewConfig(ktesting.BufferLogs(true), ktesting.Verbosity(0)))
					ctx, cancel := context.WithCancel(klog.NewContext(t.Context(), logger))
					var running sync.WaitGroup
					running.Go(func() { informer.RunWithContext(ctx) })
					defer running.Wait()
					defer cancel()

					begin := time.Now()
					limited, stop := context.WithTimeout(ctx, bad.within+time.Second)
					defer stop()
					require.True(t, cache.WaitForCacheSync(limited.Done(), informer.HasSynced), "asked %d times", asks())
					assert.LessOrEqual(t, time.Since(begin), bad.within+100*time.Millisecond, "and what it takes to see that")
					assert.Len(t, informer.GetStore().List(), 1)
					assert.Equal(t, 1, srv.Requests("list", "pods"))
					standsOn, ok := adapters.AnyInformer(informer)
					require.True(t, ok)
					status := standsOn.Status()
					assert.Equal(t, 1, status.NotStreamed)
					assert.ErrorIs(t, status.NotStreamedErr, source.ErrNotStreamed)
					assert.Equal(t, 1, strings.Count(logger.GetSink().(ktesting.Underlier).GetBuffer().String(), "A streamed list was given up"))

					require.NoError(t, srv.WaitForWatches(ctx, "pods", 1))
					require.NoError(t, srv.Create(ctx, pod("b", "")))
					synctest.Wait()
					assert.Len(t, informer.GetStore().List(), 2, "the watch goes on")

					if bad.asks < 0 {
						return
					}
					srv.Compact()
					require.Equal(t, 1, srv.Inject(apitest.Fault{Resource: "pods", Open: true, Err: apierrors.NewResourceExpired("too old")}).Met())
					time.Sleep(time.Minute)
					assert.Equal(t, 2, srv.Requests("list", "pods"))
					assert.Equal(t, bad.asks, asks(), "it is not tried again")
				})
			})
		}
	}
}

// TestStreamedListsOfOthers: an API whose lists cannot be streamed costs others nothing, and
// where nothing is wrong, all is streamed.
func TestStreamedListsOfOthers(t *testing.T) {
	for form, newInformer := range dropIns {
		t.Run(form, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				srv := apitest.Start(t)
				require.NoError(t, srv.Create(t.Context(), pod("a", ""), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "a"}}))
				config, _ := badly(srv, "configmaps", badStreams["nothing comes"])
				pods := newInformer(t, config)
				configMaps := informers.NewSharedInformerFactory(clientsetOf(t, config), 0).Core().V1().ConfigMaps().Informer()
				ctx, cancel := context.WithCancel(t.Context())
				var running sync.WaitGroup
				running.Go(func() { pods.RunWithContext(ctx) })
				running.Go(func() { configMaps.RunWithContext(ctx) })
				defer running.Wait()
				defer cancel()
				begin := time.Now()
				require.True(t, cache.WaitForCacheSync(ctx.Done(), pods.HasSynced))
				assert.Less(t, time.Since(begin), time.Second)
				require.True(t, cache.WaitForCacheSync(ctx.Done(), configMaps.HasSynced))
				assert.Zero(t, srv.Requests("list", "pods"))
				assert.Equal(t, 1, srv.Requests("list", "configmaps"))

				srv.Compact()
				require.Equal(t, 1, srv.Inject(apitest.Fault{Resource: "pods", Open: true, Err: apierrors.NewResourceExpired("too old")}).Met())
				time.Sleep(time.Minute)
				assert.Zero(t, srv.Requests("list", "pods"), "it is streamed again")
				require.NoError(t, srv.Create(ctx, pod("b", "")))
				synctest.Wait()
				assert.Len(t, pods.GetStore().List(), 2)
			})
		})
	}
}

// unsaid lists and watches with a fake clientset as factories do that were generated before
// client-go 0.35: nothing says that the clientset is one.
func unsaid(clientset kubernetes.Interface) cache.ListerWatcher {
	pods := clientset.CoreV1().Pods(metav1.NamespaceAll)
	return &cache.ListWatch{
		//lint:ignore SA1019 programs still set it
		ListFunc: func(opts metav1.ListOptions) (runtime.Object, error) { return pods.List(context.Background(), opts) },
		//lint:ignore SA1019 programs still set it
		WatchFunc: func(opts metav1.ListOptions) (watch.Interface, error) { return pods.Watch(context.Background(), opts) },
	}
}

// TestFakesThatDoNotSaySo: tests with fakes that do not know of streamed lists pass at once.
func TestFakesThatDoNotSaySo(t *testing.T) {
	shared := watch.NewFakeWithChanSize(10, false)
	for name, prepare := range map[string]func(*clientgofake.Clientset) func(*corev1.Pod) error{
		"of the clientset": func(clientset *clientgofake.Clientset) func(*corev1.Pod) error {
			return func(p *corev1.Pod) error {
				_, err := clientset.CoreV1().Pods(p.Namespace).Create(t.Context(), p, metav1.CreateOptions{})
				return err
			}
		},
		"of the test": func(clientset *clientgofake.Clientset) func(*corev1.Pod) error {
			clientset.PrependWatchReactor("pods", clienttesting.DefaultWatchReactor(shared, nil))
			return func(p *corev1.Pod) error {
				shared.Add(p)
				return nil
			}
		},
	} {
		for form, newInformer := range map[string]func(cache.ListerWatcher) cache.SharedIndexInformer{
			"adapters": func(lw cache.ListerWatcher) cache.SharedIndexInformer {
				return adapters.NewSharedIndexInformer(lw, &corev1.Pod{}, 0, cache.Indexers{})
			},
			"typed": func(lw cache.ListerWatcher) cache.SharedIndexInformer {
				return adapters.SharedIndexInformer(typed.NewInformer(kube.FromListerWatcher[*corev1.Pod](lw)))
			},
		} {
			t.Run(name+"/"+form, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					shared.Reset()
					clientset := clientgofake.NewClientset(pod("a", "1"))
					create := prepare(clientset)
					informer := newInformer(unsaid(clientset))
					ctx, cancel := context.WithCancel(t.Context())
					var running sync.WaitGroup
					running.Go(func() { informer.RunWithContext(ctx) })
					defer running.Wait()
					defer cancel()
					synctest.Wait()
					require.True(t, informer.HasSynced(), "at once")
					require.NoError(t, create(pod("b", "2")))
					synctest.Wait()
					assert.Len(t, informer.GetStore().List(), 2)
					standsOn, _ := adapters.AnyInformer(informer)
					assert.Zero(t, standsOn.Status().NotStreamed, "nothing is wrong")
				})
			})
		}
	}
}

// TestWatchesWithContextsOfTheirOwn: a function that watches by another context than the one
// it is given cannot be ended, but does not keep the objects from being listed.
func TestWatchesWithContextsOfTheirOwn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		endless, end := context.WithCancel(context.Background())
		late := watch.NewRaceFreeFake()
		list := &corev1.PodList{ListMeta: metav1.ListMeta{ResourceVersion: "10"}, Items: []corev1.Pod{*pod("a", "1")}}
		informer := adapters.NewSharedIndexInformer(&cache.ListWatch{
			//lint:ignore SA1019 programs still set it
			ListFunc: func(metav1.ListOptions) (runtime.Object, error) { return list, nil },
			//lint:ignore SA1019 programs still set it
			WatchFunc: func(opts metav1.ListOptions) (watch.Interface, error) {
				if opts.SendInitialEvents != nil {
					<-endless.Done()
					return late, nil
				}
				return watch.NewRaceFreeFake(), nil
			},
		}, &corev1.Pod{}, 0, cache.Indexers{})
		stop, ended := start(t, informer)
		time.Sleep(time.Minute)
		synctest.Wait()
		assert.True(t, informer.HasSynced())
		stop()
		end()
		<-ended
		assert.True(t, late.IsStopped(), "what comes too late is stopped")
	})
}

// TestStopWhileStreamedListsAreRefused: an informer that waits until it may ask again stops
// at once.
func TestStopWhileStreamedListsAreRefused(t *testing.T) {
	for _, err := range []error{apierrors.NewTooManyRequests("later", 20), &net.OpError{Op: "dial", Err: syscall.ECONNREFUSED}} {
		synctest.Test(t, func(t *testing.T) {
			r := newStreamRig(t, func(lw cache.ListerWatcher, o cache.SharedIndexInformerOptions) cache.SharedIndexInformer {
				return adapters.NewSharedIndexInformerWithOptions(lw, &corev1.Pod{}, o)
			})
			r.script.refuses(err, err, err, err, err)
			r.run()
			time.Sleep(19 * time.Second)
			begin := time.Now()
			r.halt()
			assert.Zero(t, time.Since(begin))
			assert.NotEmpty(t, r.script.watchCalls())
			assert.Empty(t, r.script.listCalls())
		})
	}
}
