package kube_test

import (
	"context"
	"net/http"
	"net/url"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic/dynamiclister"
	"k8s.io/client-go/gentype"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/client-go/kubernetes/scheme"
	appsv1listers "k8s.io/client-go/listers/apps/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"

	"github.com/kubetyped/informer/index"
	"github.com/kubetyped/informer/lister"
	"github.com/kubetyped/informer/typed"
	"github.com/kubetyped/informer/typed/kube"
	"github.com/kubetyped/informer/typed/source"
)

// metadataOf is a projection of a Pod.
func metadataOf(p *corev1.Pod) *metav1.PartialObjectMetadata {
	return &metav1.PartialObjectMetadata{ObjectMeta: p.ObjectMeta}
}

// known is what an informer is called, and its objects in errors.
type known struct{ name, notFound string }

func knownOf[T index.Labeled](src source.Source[T]) known {
	informer := typed.NewInformer(src)
	_, err := lister.New(informer).Namespace("shop").Get("x")
	return known{informer.Name(), err.Error()}
}

// TestInformersHaveDifferentNames by their names, and listers say what they have not found,
// whatever the source.
func TestInformersHaveDifferentNames(t *testing.T) {
	t.Parallel()
	config := &rest.Config{Host: "https://admin:secret@10.0.0.1:6443/"}
	clients := kubernetes.NewForConfigOrDie(config)
	proxied := &rest.Config{Host: "https://clusters.example.com/c/east"}
	web := kube.WithLabelSelector(labels.SelectorFromSet(labels.Set{"app": "web"}))
	on := kube.WithFieldSelector(fields.OneTermEqualSelector("spec.nodeName", "n1"))
	tunnels := kube.WithResource(tunnelResource)
	shop := kube.WithNamespace("shop")
	for want, got := range map[known]known{
		{`*v1.Pod at 10.0.0.1:6443`, `pod "x" not found`}:                             knownOf(kube.FromREST[*corev1.Pod](config)),
		{`*v1.Pod in shop at 10.0.0.1:6443`, `pod "x" not found`}:                     knownOf(kube.FromClient(clients.CoreV1().Pods("shop"))),
		{`*v1.Pod in shop at clusters.example.com/c/east`, `pod "x" not found`}:       knownOf(kube.FromREST[*corev1.Pod](proxied, shop)),
		{`*v1.Pod in east at clusters.example.com/c/east`, `pod "x" not found`}:       knownOf(kube.FromClient(kubernetes.NewForConfigOrDie(proxied).CoreV1().Pods("east"))),
		{`*v1.Pod at localhost`, `pod "x" not found`}:                                 knownOf(kube.FromREST[*corev1.Pod](&rest.Config{})),
		{`*v1.Pod`, `pod "x" not found`}:                                              knownOf(kube.FromREST[*corev1.Pod](nil)),
		{`*v1.Deployment in shop at 10.0.0.1:6443`, `deployment.apps "x" not found`}:  knownOf(kube.FromREST[*appsv1.Deployment](config, shop)),
		{`*v1.Deployment at 10.0.0.1:6443`, `deployment.apps "x" not found`}:          knownOf(kube.FromClient(clients.AppsV1().Deployments(""))),
		{`*v1.Deployment`, `deployment.apps "x" not found`}:                           knownOf(kube.FromClient(fake.NewClientset().AppsV1().Deployments(""))),
		{`*v1.Deployment labels app=web`, `deployment.apps "x" not found`}:            knownOf(kube.FromListerWatcher[*appsv1.Deployment](&cache.ListWatch{}, web)),
		{`*v1.Deployment in shop at 10.0.0.1`, `deployment.extensions "x" not found`}: knownOf(kube.FromClient(clientOf(t, schema.GroupVersion{Group: "extensions", Version: "v1beta1"}))),
		{`*v1.Pod labels app=web fields spec.nodeName=n1 at a`, `pod "x" not found`}:  knownOf(kube.FromREST[*corev1.Pod](&rest.Config{Host: "a"}, web, on)),
		{`*v1.Pod WithFields spec at a`, `pod "x" not found`}:                         knownOf(kube.FromREST[*corev1.Pod](&rest.Config{Host: "a"}, kube.WithFields("spec"))),
		{`*v1.PartialObjectMetadata of Pod in shop at 10.0.0.1:6443`, `pod "x" not found`}: knownOf(
			source.Map(kube.FromREST[*corev1.Pod](config, shop), metadataOf)),
		{`*kube_test.Network of tunnels.example.com at a`, `tunnels.example.com "x" not found`}: knownOf(
			kube.FromREST[*Network](&rest.Config{Host: "a"}, tunnels)),
		{`*kube_test.Network at a`, `networks.example.com "x" not found`}: knownOf(kube.FromREST[*Network](&rest.Config{Host: "a"}, kube.WithResource(networkResource))),
		{`*unstructured.Unstructured of tunnels.example.com in shop at 10.0.0.1:6443`, `tunnels.example.com "x" not found`}: knownOf(
			kube.FromREST[*unstructured.Unstructured](config, tunnels, shop)),
		{`*v1.PartialObjectMetadata of tunnels.example.com at 10.0.0.1:6443`, `tunnels.example.com "x" not found`}: knownOf(
			kube.FromREST[*metav1.PartialObjectMetadata](config, tunnels)),
		{`*v1.Pod of pods.example.com at a`, `pod "x" not found`}: knownOf(
			kube.FromREST[*corev1.Pod](&rest.Config{Host: "a"}, kube.WithResource(schema.GroupVersionResource{Group: "example.com", Version: "v1", Resource: "pods"}))),
	} {
		assert.Equal(t, want, got)
	}
}

// clientOf returns a client of another clientset than client-go's, in the namespace
// shop.
func clientOf(t *testing.T, gv schema.GroupVersion) *gentype.ClientWithList[*appsv1.Deployment, *appsv1.DeploymentList] {
	client, err := rest.NewRESTClient(&url.URL{Scheme: "https", Host: "10.0.0.1"}, "/apis/extensions/v1beta1", rest.ClientContentConfig{GroupVersion: gv}, nil, nil)
	require.NoError(t, err)
	return gentype.NewClientWithList("deployments", client, scheme.ParameterCodec, "shop",
		func() *appsv1.Deployment { return &appsv1.Deployment{} }, func() *appsv1.DeploymentList { return &appsv1.DeploymentList{} })
}

// TestNotFoundAsClientGo compares with what client-go's own listers say.
func TestNotFoundAsClientGo(t *testing.T) {
	t.Parallel()
	store := cache.NewIndexer(cache.MetaNamespaceKeyFunc, cache.Indexers{cache.NamespaceIndex: cache.MetaNamespaceIndexFunc})
	_, generated := appsv1listers.NewDeploymentLister(store).Deployments("shop").Get("x")
	_, dynamic := dynamiclister.New(store, tunnelResource).Namespace("shop").Get("x")

	_, typedOne := lister.New(typed.NewInformer(kube.FromREST[*appsv1.Deployment](&rest.Config{}))).Namespace("shop").Get("x")
	_, unstructuredOne := lister.New(typed.NewInformer(kube.FromREST[*unstructured.Unstructured](&rest.Config{}, kube.WithResource(tunnelResource)))).Namespace("shop").Get("x")
	assert.Equal(t, generated, typedOne)
	assert.Equal(t, dynamic, unstructuredOne)
}

// TestSharedInformersHaveDifferentNames: informers of two clusters, of which one has gone.
func TestSharedInformersHaveDifferentNames(t *testing.T) {
	t.Parallel()
	for _, host := range []string{"10.0.0.1:1", "10.0.0.2:1"} {
		f := kube.NewFactory(with(&rest.Config{Host: host}, func(*http.Request) *http.Response { return response(503, "{}") }))
		defer f.Shutdown()
		deployments, err := kube.For[*appsv1.Deployment](f, kube.WithNamespace("shop"))
		require.NoError(t, err)
		name := "*v1.Deployment in shop at " + host
		assert.Equal(t, name, deployments.Name())
		assert.Equal(t, name, f.Status()[0].Name)
		assert.Equal(t, source.Origin{
			Host: host, Namespace: "shop", Kind: appsv1.SchemeGroupVersion.WithKind("Deployment"),
		}, f.Status()[0].Origin)
		ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
		defer cancel()
		assert.ErrorContains(t, deployments.WaitForSync(ctx), "informer "+name+" is not synced: ")
		l := lister.New(deployments)
		_, err = l.Namespace("shop").Get("x")
		assert.EqualError(t, err, `deployment.apps "x" not found`)
		deployments.Release()
		_, err = l.Namespace("shop").Get("x")
		assert.ErrorContains(t, err, "get deployment.apps: ")
		assert.ErrorIs(t, err, index.ErrReleased)
	}
}
