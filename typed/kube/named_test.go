package kube_test

import (
	"context"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/kubernetes/fake"
	typedcorev1 "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/rest"

	"github.com/kubetyped/informer/apitest"
	"github.com/kubetyped/informer/index"
	"github.com/kubetyped/informer/internal/test/rig"
	"github.com/kubetyped/informer/typed"
	"github.com/kubetyped/informer/typed/kube"
	"github.com/kubetyped/informer/typed/source"
)

// TestNames: names are escaped in selectors, and nothing else is listed.
func TestNames(t *testing.T) {
	for _, name := range []string{"system:x", "a,b", "a=b", `a\b`, "plain"} {
		others := []apitest.Object{&rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{Name: "a"}}, &rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{Name: "b"}}}
		srv := apitest.Start(t, apitest.WithObjects(append(others, &rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{Name: name}})...))
		for _, opts := range [][]kube.SourceOption{nil, {kube.WithoutWatchList()}} {
			roles := mirrored(t, kube.FromREST[*rbacv1.ClusterRole](srv.Config(), append(opts, kube.WithName(index.Key{Name: name}))...))
			roles.waitForSync(t)
			assert.Len(t, roles.all(), 1, name)
		}
		assert.Zero(t, srv.Requests("get", ""), "no discovery: many sources may be of one kind")
	}
}

// TestNameOfAnUnknownKind asks the server whether the kind has namespaces.
func TestNameOfAnUnknownKind(t *testing.T) {
	gvr := corev1.SchemeGroupVersion.WithResource("secrets")
	srv := apitest.Start(t, apitest.WithObjects(&corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "a"}}))
	of := func(key index.Key) *typed.Informer[*unstructured.Unstructured] {
		return typed.NewInformer(kube.FromREST[*unstructured.Unstructured](srv.Config(), kube.WithResource(gvr), kube.WithName(key)))
	}
	assert.ErrorContains(t, of(index.Key{Name: "a"}).Run(t.Context()), "the key has no namespace: WithName names a, and secrets have one")
	assert.Zero(t, srv.Requests("list", "secrets")+srv.Requests("watch", "secrets"), "those of all namespaces are not listed")
	one := of(index.Key{Namespace: "shop", Name: "a"})
	require.NoError(t, one.WaitForSync(rig.Start(t, one)))
	assert.Equal(t, 1, one.Len())
}

func TestNamed(t *testing.T) {
	key := index.Key{Namespace: "shop", Name: "a"}
	_, client := rig.Serve(t, 0)
	for name, src := range map[string]source.Source[*corev1.Pod]{
		"client":      kube.FromClient(client.CoreV1().Pods("shop"), kube.WithName(key)),
		"fake client": kube.FromClient(fake.NewClientset().CoreV1().Pods("shop"), kube.WithName(key)),
	} {
		got, err := src.(source.Named).Named()
		require.NoError(t, err, name)
		assert.Equal(t, key, got, name)
	}
	for name, src := range map[string]source.Source[*corev1.Pod]{
		"client": kube.FromClient(client.CoreV1().Pods(""), kube.WithName(key)),
	} {
		_, err := src.(source.Named).Named()
		assert.ErrorContains(t, err, `WithName names shop/a, and the client is for the namespace ""`, name)
	}
	_, err := kube.FromClient(fake.NewClientset().CoreV1().Pods("")).(source.Named).Named()
	require.ErrorContains(t, err, "use WithName")
	_, err = kube.NewWriter[*corev1.Pod](apitest.Start(t).Config(), kube.WithName(key))
	require.ErrorContains(t, err, "WithName: for what lists and watches, and a writer does neither")
}

// TestNameInAnotherNamespace: a client for another namespace than that of the name is an error, and
// nothing is listed.
func TestNameInAnotherNamespace(t *testing.T) {
	srv, client := rig.Serve(t, 0)
	key := index.Key{Namespace: "shop", Name: "a"}
	for message, src := range map[string]source.Source[*corev1.Pod]{
		`WithName names shop/a, and the client is for the namespace ""`:       kube.FromClient(client.CoreV1().Pods(""), kube.WithName(key)),
		`WithName names shop/a, and the client is for the namespace "market"`: kube.FromClient(ownPods{client.CoreV1().Pods("market")}, kube.WithName(key)),
		"the key has no namespace: WithName names a, and pods have one":       kube.FromClient(client.CoreV1().Pods(""), kube.WithName(index.Key{Name: "a"})),
	} {
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		assert.ErrorContains(t, typed.NewInformer(src).Run(ctx), message)
		cancel()
	}
	assert.Zero(t, srv.Requests("list", "pods")+srv.Requests("watch", "pods"))
}

// ownPods is a client that is not one of client-go's.
type ownPods struct{ typedcorev1.PodInterface }

func (p ownPods) GetClient() rest.Interface {
	return p.PodInterface.(interface{ GetClient() rest.Interface }).GetClient()
}

func (p ownPods) GetNamespace() string { return "market" }

// roundTrips writes down requests.
type roundTrips struct {
	http.RoundTripper
	mu   sync.Mutex
	urls []*url.URL
}

func (r *roundTrips) RoundTrip(request *http.Request) (*http.Response, error) {
	r.mu.Lock()
	r.urls = append(r.urls, request.URL)
	r.mu.Unlock()
	return r.RoundTripper.RoundTrip(request)
}

// TestNothingElseIsListed: each request for objects names the one, and its namespace.
func TestNothingElseIsListed(t *testing.T) {
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "a"}}
	for name, opts := range map[string][]kube.SourceOption{
		"streamed": nil,
		"plain":    {kube.WithoutWatchList()},
		"pages":    {kube.WithoutWatchList(), kube.WithPageSize(1)},
		"kind":     {kube.WaitForKind()},
	} {
		srv := apitest.Start(t, apitest.WithObjects(pod, &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "b"}}))
		seen := &roundTrips{}
		config := srv.Config()
		config.Wrap(func(to http.RoundTripper) http.RoundTripper {
			seen.RoundTripper = to
			return seen
		})
		pods := typed.NewInformer(kube.FromREST[*corev1.Pod](config, append(opts, kube.WithName(index.KeyOf(pod)))...))
		ctx := rig.Start(t, pods)
		require.NoError(t, pods.WaitForSync(ctx))
		require.NoError(t, srv.WaitForWatches(ctx, "pods", 1))
		srv.Compact()
		srv.Inject(apitest.Fault{Verb: "watch", Resource: "pods", Open: true, Err: apierrors.NewResourceExpired("gone")})
		changed := pod.DeepCopy()
		changed.Labels = map[string]string{"a": "b"}
		require.NoError(t, srv.Update(ctx, changed))
		for range pods.Events(ctx).All() {
			if o, _ := pods.Get(index.KeyOf(pod)); len(o.Labels) > 0 {
				break
			}
		}
		seen.mu.Lock()
		defer seen.mu.Unlock()
		found := 0
		for _, u := range seen.urls {
			if strings.HasSuffix(u.Path, "/pods") {
				found++
				assert.Equal(t, "/api/v1/namespaces/shop/pods", u.Path, name)
				assert.Equal(t, "metadata.name=a", u.Query().Get("fieldSelector"), name)
			}
		}
		assert.GreaterOrEqual(t, found, 1, name)
	}
}
